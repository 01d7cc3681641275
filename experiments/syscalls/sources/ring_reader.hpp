// Reads through io_uring, several in flight.
#pragma once

#include <liburing.h>

#include <cstddef>
#include <span>

#include "harness/memory/mapped_array.hpp"
#include "sources/words.hpp"

namespace syscalls {

class ring_reader {
 public:
  static constexpr unsigned depth = 8;

  explicit ring_reader(std::size_t block_bytes)
      : block_bytes_{block_bytes}, buffers_{depth * block_bytes / sizeof(word)} {
    ready_ = io_uring_queue_init(depth, &ring_, 0) == 0;
  }
  ~ring_reader() {
    if (ready_) io_uring_queue_exit(&ring_);
  }
  ring_reader(const ring_reader&) = delete;
  ring_reader& operator=(const ring_reader&) = delete;

  /// False where the kernel does not let us have one.
  [[nodiscard]] bool ready() const noexcept { return ready_; }

  /// The sum of all blocks, each read whole once; 0 if a read failed.
  [[nodiscard]] word sum(int file, std::span<const std::size_t> offsets) noexcept {
    word sum = 0;
    std::size_t asked = 0;
    for (; asked < offsets.size() && asked < depth; ++asked) ask(file, offsets[asked], asked);
    for (std::size_t answered = 0; answered < offsets.size();) {
      if (io_uring_submit_and_wait(&ring_, 1) < 0) return 0;
      io_uring_cqe* done = nullptr;
      while (answered < offsets.size() && io_uring_peek_cqe(&ring_, &done) == 0) {
        if (done->res != static_cast<int>(block_bytes_)) return 0;
        const auto slot = static_cast<std::size_t>(io_uring_cqe_get_data64(done));
        io_uring_cqe_seen(&ring_, done);
        ++answered;
        sum += sum_of(buffer(slot), block_bytes_);
        if (asked < offsets.size()) ask(file, offsets[asked++], slot);
      }
    }
    return sum;
  }

 private:
  [[nodiscard]] word* buffer(std::size_t slot) const noexcept {
    return buffers_.data() + slot * block_bytes_ / sizeof(word);
  }

  /// There is always room: never more are asked for than there are slots.
  void ask(int file, std::size_t offset, std::size_t slot) noexcept {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    io_uring_prep_read(entry, file, buffer(slot), static_cast<unsigned>(block_bytes_), offset);
    io_uring_sqe_set_data64(entry, slot);
  }

  std::size_t block_bytes_;
  heapwise::bench::mapped_array<word> buffers_;
  io_uring ring_{};
  bool ready_ = false;
};

} // namespace syscalls
