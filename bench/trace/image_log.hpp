// The programs that a process has been: path and arguments of each, in their order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heapwise::bench {

/// Filled by one thread of the process; the drain may read what is there at any time.
class image_log {
 public:
  static constexpr std::uint32_t most_bytes = 65536;
  /// Of an image. Longer arguments are cut.
  static constexpr std::uint32_t most_image_bytes = 4096;

  struct image {
    std::string_view program;   ///< a path
    std::string_view arguments; ///< each with a 0 behind it
  };

  void clear() noexcept { bytes_.store(0, std::memory_order_relaxed); }

  /// Does nothing if there is no room left, or for a path that is longer than most_image_bytes.
  void add(image added) noexcept {
    const std::uint32_t at = bytes_.load(std::memory_order_relaxed);
    if (added.program.size() > most_image_bytes) return;
    added.arguments = added.arguments.substr(0, most_image_bytes);
    const std::size_t bytes = sizeof(lengths) + added.program.size() + added.arguments.size();
    if (at + bytes > most_bytes) return;
    const lengths own{static_cast<std::uint32_t>(added.program.size()),
                      static_cast<std::uint32_t>(added.arguments.size())};
    char* to = text_ + at;
    std::memcpy(to, &own, sizeof own);
    std::memcpy(to + sizeof own, added.program.data(), added.program.size());
    std::memcpy(to + sizeof own + added.program.size(), added.arguments.data(),
                added.arguments.size());
    // release: who sees the number of bytes sees them.
    bytes_.store(static_cast<std::uint32_t>(at + bytes), std::memory_order_release);
  }

  template <class Visit>
  void visit(Visit visit) const {
    const std::uint32_t end = bytes_.load(std::memory_order_acquire);
    for (std::uint32_t at = 0; at < end;) {
      lengths own{};
      std::memcpy(&own, text_ + at, sizeof own);
      at += sizeof own;
      visit(image{{text_ + at, own.program}, {text_ + at + own.program, own.arguments}});
      at += own.program + own.arguments;
    }
  }

 private:
  struct lengths {
    std::uint32_t program;
    std::uint32_t arguments;
  };

  std::atomic<std::uint32_t> bytes_{0};
  char text_[most_bytes];
};

} // namespace heapwise::bench
