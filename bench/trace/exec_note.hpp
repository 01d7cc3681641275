// Which program a process is about to become, for the case that the recorder is not in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwise::bench {

/// What becomes of the libraries that are preloaded here. silent: they are preloaded, and a
/// variable that they need is missing.
enum class preload_fate : std::uint32_t { kept = 0, dropped = 1, changed = 2, silent = 3 };

/// Written before exec, and taken back if exec fails, or by the recorder in the new program. What
/// is left at the end of the process is a program that did not load the recorder.
struct exec_note {
  static constexpr std::size_t most_bytes = 4096;

  std::atomic<std::int32_t> process{0}; ///< 0: nothing is noted
  std::atomic<preload_fate> fate{preload_fate::kept};
  char target[most_bytes]; ///< as it was given to exec

  /// Between vfork and exec, too: only writes to this memory.
  void write(const char* path, preload_fate preload) noexcept {
    std::strncpy(target, path != nullptr ? path : "", most_bytes - 1);
    fate.store(preload, std::memory_order_release);
  }
};

} // namespace heapwise::bench
