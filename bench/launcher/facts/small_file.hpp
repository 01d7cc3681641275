// The start of a small file of the kernel's.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace heapwise::bench {

class small_file {
 public:
  explicit small_file(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t got = read(file, text_, sizeof text_ - 1);
    text_[got < 0 ? 0 : got] = '\0';
    close(file);
  }

  /// The number after the first `label`; -1 without it.
  [[nodiscard]] std::int64_t number_after(const char* label) const {
    const char* at = std::strstr(text_, label);
    return at == nullptr ? -1 : std::strtoll(at + std::strlen(label), nullptr, 10);
  }

  /// Empty if it could not be read.
  [[nodiscard]] const char* text() const { return text_; }

 private:
  char text_[4096] = {};
};

} // namespace heapwise::bench
