#include "os/os.hpp"

#include <cerrno>
#include <cstdint>
#include <ctime>

#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

namespace heapwise::os {

std::size_t page_bytes() noexcept {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

namespace {

std::byte* map_anywhere(std::size_t size_bytes) noexcept {
  void* const memory =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

} // namespace

void* map(std::size_t size_bytes, std::size_t alignment) noexcept {
  const int saved_errno = errno;
  const std::size_t slack = alignment <= page_bytes() ? 0 : alignment - page_bytes();
  if (size_bytes > SIZE_MAX - slack) return nullptr;
  std::byte* const memory = map_anywhere(size_bytes + slack);
  errno = saved_errno;
  if (memory == nullptr || slack == 0) return memory;
  // Cut off what sticks out before and behind the aligned part.
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) & (alignment - 1);
  if (before != 0) ::munmap(memory, before);
  if (slack != before) ::munmap(memory + before + size_bytes, slack - before);
  return memory + before;
}

void unmap(void* memory, std::size_t size_bytes) noexcept {
  const int saved_errno = errno;
  ::munmap(memory, size_bytes);
  errno = saved_errno;
}

void write_error(const char* text, std::size_t length) noexcept {
  const int saved_errno = errno;
  while (length > 0) {
    const ssize_t written = ::write(STDERR_FILENO, text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    text += written;
    length -= static_cast<std::size_t>(written);
  }
  errno = saved_errno;
}

unsigned long long random_word() noexcept {
  const int saved_errno = errno;
  unsigned long long word = 0;
  if (::getrandom(&word, sizeof word, GRND_NONBLOCK) != sizeof word) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    word = static_cast<unsigned long long>(now.tv_nsec) * 0x9E3779B97F4A7C15u ^
           reinterpret_cast<std::uintptr_t>(&word);
  }
  errno = saved_errno;
  return word;
}

} // namespace heapwise::os
