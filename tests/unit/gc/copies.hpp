// What tests of collections that mark in a copy of the process need. What the copy knows is what
// was there when it was made; its marks are taken over by the first allocation that needs a span
// afterwards. So whatever a test does between `begin_copy` and `take_over` happens while the copy
// marks.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <string>

#include <doctest/doctest.h>
#include <sys/mman.h>

#include "gc/collect/copies.hpp"
#include "surroundings.hpp"

namespace gc_test {

using heapwise::gc::the_gc;

inline constexpr bool without_copies = HEAPWISE_SKIP_STOPS || HEAPWISE_EMULATED;

struct node {
  node* next;
  std::uintptr_t number;
};

inline void* volatile always_live; // an empty heap is not worth a copy

inline void start(std::size_t concurrent_bytes = 1) {
  heapwise_gc_options options{};
  options.concurrent_bytes = concurrent_bytes;
  REQUIRE(heapwise_gc_init(&options) == 0);
  always_live = heapwise_gc_malloc(16);
  heapwise_gc_collect(); // the first one counts what is live
}

inline heapwise::os::copy_number copy_now() {
  const std::lock_guard hold{the_gc.lock};
  return the_gc.copy.number;
}

inline void make_garbage() {
  for (int each = 0; each < 64; ++each) static_cast<void>(heapwise_gc_malloc(1024));
}

/// Returns: whether there is a copy, of the program as it is now.
inline bool begin_copy(int rounds = 100'000) {
  bool begun = false;
  elsewhere([&] {
    for (int each = 0; each < rounds && !begun; ++each) {
      make_garbage();
      begun = copy_now() != heapwise::os::no_copy;
    }
  });
  return begun;
}

/// Returns: whether the copy is gone.
inline bool take_over() {
  bool is_over = false;
  elsewhere([&] {
    for (int each = 0; each < 1'000'000 && !is_over; ++each) {
      make_garbage();
      const std::lock_guard hold{the_gc.lock};
      is_over = the_gc.copy.report == nullptr;
    }
  });
  return is_over;
}

/// Words that take long to look through: pages that nobody wrote, and that take no memory.
class slow_roots {
 public:
  slow_roots() {
    REQUIRE(begin_ != MAP_FAILED);
    REQUIRE(heapwise_gc_add_roots(begin_, end()) == 0);
  }
  slow_roots(const slow_roots&) = delete;
  slow_roots& operator=(const slow_roots&) = delete;
  ~slow_roots() {
    heapwise_gc_remove_roots(begin_, end());
    ::munmap(begin_, bytes);
  }

 private:
  static constexpr std::size_t bytes = std::size_t{1} << 30;

  [[nodiscard]] const void* end() const { return static_cast<char*>(begin_) + bytes; }

  void* begin_ =
      ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
};

/// Effects: waits until the process stands still, or has ended.
inline void wait_until_it_stands(heapwise::os::copy_number copy) {
  const std::string stat = "/proc/" + std::to_string(copy) + "/stat";
  std::string line;
  do { // no line: somebody has taken note of its end
    std::ifstream file{stat};
    if (!std::getline(file, line)) return;
  } while (line.find(") T ") == std::string::npos && line.find(") Z ") == std::string::npos);
}

/// Returns: whether a copy was caught before it had marked all.
inline bool stop_a_copy() {
  for (int tries = 0; tries < 10; ++tries) {
    {
      const slow_roots some;
      if (!begin_copy()) return false;
      if (::kill(copy_now(), SIGSTOP) == 0) wait_until_it_stands(copy_now());
    }
    {
      const std::lock_guard hold{the_gc.lock};
      if (!heapwise::gc::copy_is_ready()) return true;
    }
    if (!take_over()) return false;
  }
  return false;
}

inline node* volatile the_list;

inline node* made(node* next, std::uintptr_t number) {
  auto* const block = static_cast<node*>(heapwise_gc_malloc(sizeof(node)));
  *block = {next, number};
  return block;
}

inline constexpr std::size_t nodes_of_long_list = 100'000;

inline void make_long_list() {
  constexpr std::uintptr_t nodes = nodes_of_long_list;
  for (std::uintptr_t each = 0; each < nodes; ++each) the_list = made(the_list, each);
}

} // namespace gc_test
