// A file descriptor that is closed, and whole messages through it.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace heapwise::bench {

class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_{number} {}
  descriptor(descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool valid() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

/// False if the other end is gone or the kernel refuses; interrupted and partial writes go on.
[[nodiscard]] inline bool write_all(int to, const void* data, std::size_t bytes) noexcept {
  const auto* next = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t written = write(to, next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

/// False if there is less to come, or the kernel refuses.
[[nodiscard]] inline bool read_all(int from, void* data, std::size_t bytes) noexcept {
  auto* next = static_cast<char*>(data);
  while (bytes != 0) {
    const ssize_t got = read(from, next, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

} // namespace heapwise::bench
