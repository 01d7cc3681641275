#include "recorder/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "line/handed_file.hpp"
#include "recorder/no_cancellation.hpp"
#include "recorder/own_filter.hpp"

namespace heapwise::bench {

namespace {

/// The program may change its environment, so both are copies. Written before any other thread of
/// the program can record.
constinit char known_path[64] = "";
constinit handed_file inherited;

[[nodiscard]] bool is_inherited() noexcept {
  return inherited.descriptor >= 0 && handed_file::of(inherited.descriptor) == inherited;
}

void* map_from(int file, std::size_t begin, std::size_t bytes) noexcept {
  void* const mapping =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(begin));
  return mapping != MAP_FAILED ? mapping : nullptr;
}

void* map_again(std::size_t begin, std::size_t bytes) noexcept {
  if (is_inherited()) return map_from(inherited.descriptor, begin, bytes);
  // A filter of the program's own may end it for a file that it opens.
  if (known_path[0] == '\0' || has_own_filter()) return nullptr;
  const no_cancellation whole;
  const int file = ::open(known_path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const mapping = map_from(file, begin, bytes);
  ::close(file);
  return mapping;
}

} // namespace

int open_memory(const char* path, const char* handed) noexcept {
  if (path != nullptr && std::strlen(path) < sizeof known_path) std::strcpy(known_path, path);
  inherited = handed != nullptr ? handed_file::parse(handed) : handed_file{};
  const int file = path != nullptr ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file >= 0 || !is_inherited()) return file;
  return fcntl(inherited.descriptor, F_DUPFD_CLOEXEC, 0);
}

bool is_mapped_here(int file) noexcept {
  struct stat status{};
  if (fstat(file, &status) != 0) return false;
  // An emulator (qemu 7.2) writes a /proc/self/maps of its own, which has only the program's.
  char text[4096 + 1];
  std::snprintf(text, sizeof text, "/proc/self/task/%d/maps", static_cast<int>(getpid()));
  const int maps = ::open(text, O_RDONLY | O_CLOEXEC);
  if (maps < 0) return false;
  char number[32]; // as a field of a line stands there
  std::snprintf(number, sizeof number, " %llu ", static_cast<unsigned long long>(status.st_ino));
  bool is_found = false;
  std::size_t held = 0;
  for (ssize_t got = 1; got > 0 && !is_found;) {
    got = ::read(maps, text + held, sizeof text - 1 - held);
    held += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    text[held] = '\0';
    is_found = std::strstr(text, number) != nullptr;
    // The field may go on in what is read next.
    const std::size_t kept = std::min(held, sizeof number);
    std::memmove(text, text + held - kept, kept);
    held = kept;
  }
  ::close(maps);
  return is_found;
}

void* map_behind(mapped_part known, std::size_t offset, std::size_t bytes) noexcept {
  void* const all = mremap(known.mapping, 0, offset + bytes, MREMAP_MAYMOVE);
  if (all == MAP_FAILED) return map_again(known.begin + offset, bytes);
  if (offset != 0) munmap(all, offset);
  return static_cast<char*>(all) + offset;
}

} // namespace heapwise::bench
