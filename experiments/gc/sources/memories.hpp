// Collectors, and malloc beside them: what a program of this family takes its memory from.
//
// Each has `start()`, once and before any other call; `block` (zero bytes that may hold addresses),
// `text` (bytes that hold none), `drop` (the program needs it no more) and `longest_pause_ns`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "heapwise/gc.h"
#include "kernel/clock.hpp"

#if defined(HEAPWISE_HAS_BOEHM)
#define GC_THREADS
#include <gc/gc.h>
#endif

namespace heapwise::bench::gcs {

/// markers: 0 for as many as the collector chooses. divisor: 0 for its default.
template <std::size_t Markers, std::size_t Divisor>
struct ours {
  static void start() {
    heapwise_gc_options options{};
    options.markers = Markers;
    options.free_space_divisor = Divisor;
    if (heapwise_gc_init(&options) != 0) std::abort();
  }
  static void* block(std::size_t bytes) { return heapwise_gc_malloc(bytes); }
  static void* text(std::size_t bytes) { return heapwise_gc_malloc_atomic(bytes); }
  static void drop(void*) noexcept {}

  static std::uint64_t longest_pause_ns() {
    heapwise_gc_statistics known{};
    heapwise_gc_statistics_get(&known);
    return known.longest_pause_ns;
  }
};

#if defined(HEAPWISE_HAS_BOEHM)
/// Measured by its own events, which are sent while the world is stopped.
class boehm_pauses {
 public:
  static void on_event(GC_EventType event) {
    if (event == GC_EVENT_PRE_STOP_WORLD) begin_ns_ = now_ns();
    if (event == GC_EVENT_POST_START_WORLD) {
      longest_ns_ = std::max(longest_ns_, now_ns() - begin_ns_);
    }
  }
  static std::uint64_t longest_ns() noexcept { return longest_ns_; }

 private:
  static inline std::uint64_t begin_ns_ = 0;
  static inline std::uint64_t longest_ns_ = 0;
};

template <unsigned Markers, bool Incremental>
struct boehm {
  static void start() {
    GC_set_markers_count(Markers);
    GC_init();
    GC_set_on_collection_event(boehm_pauses::on_event);
    if (Incremental) GC_enable_incremental();
  }
  static void* block(std::size_t bytes) { return GC_malloc(bytes); }
  static void* text(std::size_t bytes) { return GC_malloc_atomic(bytes); }
  static void drop(void*) noexcept {}
  static std::uint64_t longest_pause_ns() { return boehm_pauses::longest_ns(); }
};
#endif

/// The program frees by hand: no pauses, and nothing that is dropped stays.
struct by_hand {
  static void start() noexcept {}
  static void* block(std::size_t bytes) { return std::calloc(1, bytes); }
  static void* text(std::size_t bytes) { return std::malloc(bytes); }
  static void drop(void* block) noexcept { std::free(block); }
  static std::uint64_t longest_pause_ns() noexcept { return 0; }
};

} // namespace heapwise::bench::gcs
