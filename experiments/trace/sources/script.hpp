// A script that is played, in memory.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "player/script.hpp"

namespace traces {

using namespace heapwise::bench;

/// A script in memory, all pages present, so that no page of it counts as the allocator's.
class script {
 public:
  /// Not known if there is none that can be read. Without a path, an example.
  explicit script(const char* path) noexcept {
    if (path == nullptr) {
      make_example();
      return;
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat about{};
    fstat(file, &about);
    bytes_ = static_cast<std::size_t>(about.st_size);
    void* mapping = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    close(file);
    if (mapping == MAP_FAILED || !take(static_cast<const std::byte*>(mapping))) bytes_ = 0;
  }

  [[nodiscard]] bool known() const noexcept { return bytes_ != 0; }
  [[nodiscard]] const script_header& header() const noexcept { return *header_; }
  [[nodiscard]] std::span<const pooled_site> pooled() const noexcept {
    return {pooled_, header_->pooled_sites};
  }
  [[nodiscard]] std::span<const thread_part> threads() const noexcept {
    return {parts_, header_->threads};
  }
  /// Those that make the blocks that live where the window begins.
  [[nodiscard]] std::span<const step> prepared() const noexcept {
    return {steps_, header_->prepared};
  }
  [[nodiscard]] std::span<const step> steps(const thread_part& part) const noexcept {
    return {steps_ + part.first, part.count};
  }

 private:
  bool take(const std::byte* at) noexcept {
    if (bytes_ < sizeof *header_) return false;
    header_ = reinterpret_cast<const script_header*>(at);
    pooled_ = reinterpret_cast<const pooled_site*>(header_ + 1);
    parts_ = reinterpret_cast<const thread_part*>(pooled_ + header_->pooled_sites);
    steps_ = reinterpret_cast<const step*>(parts_ + header_->threads);
    return header_->magic == script_magic && header_->pooled_sites <= most_pooled_sites &&
           header_->prepared <= header_->steps &&
           bytes_ == sizeof *header_ + header_->pooled_sites * sizeof *pooled_ +
                         header_->threads * sizeof *parts_ + header_->steps * sizeof *steps_;
  }

  /// Blocks of many sizes on one thread, up and down again: what `heapwise run` plays.
  void make_example() noexcept {
    constexpr std::uint64_t blocks = 5000;
    constexpr std::uint64_t sizes = 1000;
    bytes_ = sizeof(script_header) + sizeof(thread_part) + 2 * blocks * sizeof(step);
    void* mapping = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (mapping == MAP_FAILED) {
      bytes_ = 0;
      return;
    }
    auto* header = new (mapping)
        script_header{script_magic, 1, 2 * blocks, 0, 2 * blocks, blocks, 0, 0, 0, 0, 0};
    auto* part = new (header + 1) thread_part{0, 2 * blocks, blocks};
    auto* next = reinterpret_cast<step*>(part + 1);
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const std::uint64_t size = i * 37 % sizes;
      header->bytes += size;
      new (next++) step{step::pack(step_kind::malloc, false, false, 0, size), i, 0};
    }
    for (std::uint32_t i = blocks; i-- > 0;) {
      const std::uint64_t size = i * 37 % sizes;
      new (next++) step{step::pack(step_kind::free, false, false, 0, size), i, 0};
    }
    header->peak_live_bytes = header->bytes; // all of them live before the first is freed
    if (!take(static_cast<const std::byte*>(mapping))) bytes_ = 0;
  }

  std::size_t bytes_ = 0;
  const script_header* header_ = nullptr;
  const pooled_site* pooled_ = nullptr;
  const thread_part* parts_ = nullptr;
  const step* steps_ = nullptr;
};

} // namespace traces
