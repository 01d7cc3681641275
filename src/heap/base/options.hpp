// What the environment asks of the heap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"

namespace heapwise::detail {

enum class when_invalid : std::uint8_t { abort, warn, ignore };

/// What is asked of the system; the values from `asked` on ask for huge pages.
enum class huge_pages : std::uint8_t {
  never,         // small pages from the start
  by_the_system, // nothing, until memory goes back for the first time; then small pages
  asked,         // huge pages until then
  always,        // huge pages, even if the system fills up what went back
};

/// Which thread of the heap's own gives memory back.
enum class purge_threads : std::uint8_t {
  none,
  without_rights, ///< one that cannot keep rights that its process gives up
  any,
};

/// The defaults, until the environment says otherwise. docs/how-to/use-the-heap.md describes them.
struct alignas(seal_alignment) options {
  bool stats = false; // HEAPWISE_MALLOC_STATS, and so on
  when_invalid invalid_free = when_invalid::abort;
  purge_threads purge_thread = purge_threads::without_rights;
  std::uint32_t purge_delay_ms = 500;
  bool abort_without_memory = false; // HEAPWISE_MALLOC_OUT_OF_MEMORY
  std::size_t limit_bytes = static_cast<std::size_t>(-1);
  std::size_t soft_limit_bytes = static_cast<std::size_t>(-1);
  bool follows_groups = false;      // HEAPWISE_MALLOC_SOFT_LIMIT_MIB=auto
  std::uint32_t shards = 0;         // 0: as the processors need
  char report[256] = {};            // the file for reports of faults; empty: none
  char profile[256] = {};           // where heap profiles are written; empty: nowhere by itself
  std::uint64_t profile_every = 0;  // one of this many bytes is sampled; 0: none
  std::uint32_t profile_signal = 0; // that asks for a heap profile; 0: none does
  detail::huge_pages huge_pages = detail::huge_pages::by_the_system;
  // On average, one refill of this many takes its block from the guarded pages; 0: none does.
  std::uint32_t guard_every = chosen_profile.keeps_states ? 64 : 0;
  bool deep_binding = false; // RTLD_DEEPBIND has its effect
  bool call_sites = false;   // keep the calls that allocate and free each block
};

/// Read once, when the heap starts, or as soon as there is an environment; the defaults until then.
/// Then they are sealed.
extern options the_options;

/// Effects: reads HEAPWISE_MALLOC_*. An unknown option or value is reported in one line, and the
/// default stays. Returns: whether there is an environment.
bool read_options() noexcept;

/// Returns: whether the environment has an option of heap profiles, so that the heap should start
/// before its first request.
[[nodiscard]] bool asks_for_samples() noexcept;

} // namespace heapwise::detail
