// Lines on stdout, each whole in one write: a process that dies later has still said what it knew.
#pragma once

#include <concepts>
#include <cstddef>

#include "line/json_line.hpp"

namespace heapwise::bench {

inline constexpr std::size_t longest_line = 1 << 20;

/// The one buffer that lines are written into: the harness emits from one thread.
char* line_buffer() noexcept;

/// Exits with 70 if the line does not fit or stdout takes no more: there is nobody to measure for.
void emit(const json_line& line) noexcept;

/// Calls `write(json_line&)` and emits what it wrote.
template <std::invocable<json_line&> Write>
void emit_line(Write&& write) {
  json_line line{line_buffer(), longest_line};
  write(line);
  emit(line);
}

} // namespace heapwise::bench
