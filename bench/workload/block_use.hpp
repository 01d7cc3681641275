// What a program does with a block while the clock runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "harness/escape.hpp"
#include "harness/experiment.hpp"

namespace heapwise::bench {

/// none is a diagnostic: what an allocator leaves for the first write to a block is not seen then,
/// so no goal, headline or sentence is made of it.
enum class touching { none, write, all };

/// Calls `body.template operator()<how>()` as the parameter `touch` says.
template <class Body>
void with_touching(const cell& the_cell, Body&& body) {
  const auto chosen = the_cell.text("touch");
  if (chosen == "all") return body.template operator()<touching::all>();
  if (chosen == "write") return body.template operator()<touching::write>();
  body.template operator()<touching::none>();
}

/// Uses a block that was just allocated.
template <touching how>
[[gnu::always_inline]] inline void use_new(void* block, std::size_t bytes) noexcept {
  if constexpr (how == touching::write) touch(block);
  if constexpr (how == touching::all) {
    constexpr std::uint64_t content = 0x0123'4567'89ab'cdef;
    auto* const first = static_cast<unsigned char*>(block);
    std::size_t at = 0;
    for (; at + sizeof content <= bytes; at += sizeof content) {
      std::memcpy(first + at, &content, sizeof content);
    }
    for (; at < bytes; ++at) first[at] = 1;
  }
}

/// Uses a block for the last time before it is freed.
template <touching how>
[[gnu::always_inline]] inline void use_last(void* block, std::size_t bytes) noexcept {
  if constexpr (how == touching::write) touch(block);
  if constexpr (how == touching::all) {
    const auto* const first = static_cast<const unsigned char*>(block);
    std::uint64_t sum = 0;
    std::size_t at = 0;
    for (; at + sizeof sum <= bytes; at += sizeof sum) {
      std::uint64_t word;
      std::memcpy(&word, first + at, sizeof word);
      sum += word;
    }
    for (; at < bytes; ++at) sum += first[at];
    keep(sum);
  }
}

/// The parameter `touch` of an experiment.
inline parameter touch_parameter(std::vector<value> defaults = {"write", "all"}) {
  return {"touch",
          "write: one byte of a block when it is allocated and when it is freed; all: every byte "
          "written when it is allocated, read before it is freed; none is a diagnostic",
          std::move(defaults),
          {"write", "all"},
          "",
          1,
          {"none", "write", "all"}};
}

/// The same for experiments that play tapes: only new blocks are written to.
inline parameter tape_touch_parameter() {
  return {"touch",
          "write: one byte of each new block; all: every byte written when a block is allocated, "
          "read before it is freed",
          {"write"},
          {"write", "all"},
          "",
          1,
          {"write", "all"}};
}

} // namespace heapwise::bench
