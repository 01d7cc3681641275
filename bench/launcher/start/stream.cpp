#include "launcher/start/stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace heapwise::bench {
namespace {

bool write_all(int file, const char* data, std::size_t size) noexcept {
  while (size != 0) {
    const ssize_t written = write(file, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

} // namespace

bool output_stream::drain(int file) noexcept {
  static char chunk[256 * 1024];
  static_assert(drained_bytes % sizeof chunk == 0);
  for (std::size_t reads = 0; reads < drained_bytes / sizeof chunk; ++reads) {
    const ssize_t got = read(file, chunk, sizeof chunk);
    if (got > 0) {
      take(chunk, static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      return false;
    } else if (errno == EAGAIN) {
      return true;
    }
  }
  return true;
}

void output_stream::take(const char* data, std::size_t size) noexcept {
  XXH3_64bits_update(&hash_, data, size);
  if (bytes_ < kept_bytes) {
    const auto part = std::min<std::size_t>(size, kept_bytes - bytes_);
    std::memcpy(head_ + bytes_, data, part);
    bytes_ += part;
    data += part;
    size -= part;
  }
  if (size > kept_bytes) { // what would be overwritten at once
    bytes_ += size - kept_bytes;
    data += size - kept_bytes;
    size = kept_bytes;
  }
  while (size != 0) {
    const std::size_t at = (bytes_ - kept_bytes) % kept_bytes;
    const std::size_t part = std::min(size, kept_bytes - at);
    std::memcpy(tail_ + at, data, part);
    bytes_ += part;
    data += part;
    size -= part;
  }
}

bool output_stream::save(const char* path) const noexcept {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return false;
  bool ok = write_all(file, head_, std::min<std::size_t>(bytes_, kept_bytes));
  const std::uint64_t after = bytes_ > kept_bytes ? bytes_ - kept_bytes : 0;
  if (after > kept_bytes) {
    char note[80];
    const int length = std::snprintf(note, sizeof note, "\n[... %llu bytes left out ...]\n",
                                     static_cast<unsigned long long>(after - kept_bytes));
    const std::size_t oldest = after % kept_bytes;
    ok = ok && write_all(file, note, static_cast<std::size_t>(length)) &&
         write_all(file, tail_ + oldest, kept_bytes - oldest) && write_all(file, tail_, oldest);
  } else {
    ok = ok && write_all(file, tail_, after);
  }
  return close(file) == 0 && ok;
}

} // namespace heapwise::bench
