// A mapping that is taken down.
#pragma once

#include <sys/mman.h>

#include <new>

#include "sources/words.hpp"

namespace syscalls {

class mapping {
 public:
  /// Throws std::bad_alloc. Arguments as of mmap; without a file, `file` is -1.
  mapping(std::size_t bytes, int flags, int file = -1)
      : bytes_{bytes},
        data_{mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | (file < 0 ? MAP_ANONYMOUS : 0),
                   file, 0)} {
    if (data_ == MAP_FAILED) throw std::bad_alloc{};
    // Pages of 4 KiB: what is counted is their faults.
    if (file < 0) madvise(data_, bytes, MADV_NOHUGEPAGE);
  }
  ~mapping() { munmap(data_, bytes_); }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;

  [[nodiscard]] word* words() const noexcept { return static_cast<word*>(data_); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  void* data_;
};

} // namespace syscalls
