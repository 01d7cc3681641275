#include "recorder/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "line/handed_file.hpp"
#include "recorder/own_filter.hpp"
#include "trace/kernel.hpp"

namespace heapwise::bench {

namespace {

/// The program may change its environment, so both are copies. Written before any other thread of
/// the program can record.
constinit char known_path[64] = "";
constinit handed_file inherited;

[[nodiscard]] bool is_inherited() noexcept {
  struct stat status{};
  return inherited.descriptor >= 0 && kernel::look_at(inherited.descriptor, status) &&
         status.st_dev == inherited.device && status.st_ino == inherited.inode;
}

void* map_by_file(std::size_t begin, std::size_t bytes) noexcept {
  if (is_inherited()) return kernel::map_file(inherited.descriptor, begin, bytes);
  // A filter of the program's own may end it for a file that it opens.
  if (known_path[0] == '\0' || has_own_filter()) return nullptr;
  const int file = kernel::open(known_path, O_RDWR);
  if (file < 0) return nullptr;
  void* const mapping = kernel::map_file(file, begin, bytes);
  kernel::close(file);
  return mapping;
}

} // namespace

int open_memory(const char* path, const char* handed) noexcept {
  if (path != nullptr && std::strlen(path) < sizeof known_path) std::strcpy(known_path, path);
  inherited = handed != nullptr ? handed_file::parse(handed) : handed_file{};
  const int file = path != nullptr ? kernel::open(path, O_RDWR) : -1;
  if (file >= 0 || !is_inherited()) return file;
  return kernel::duplicate(inherited.descriptor);
}

bool is_mapped_here(int file) noexcept {
  struct stat status{};
  if (!kernel::look_at(file, status)) return false;
  // An emulator (qemu 7.2) writes a /proc/self/maps of its own, which has only the program's.
  char text[4096 + 1];
  std::snprintf(text, sizeof text, "/proc/self/task/%d/maps",
                static_cast<int>(kernel::process_id()));
  const int maps = kernel::open(text, O_RDONLY);
  if (maps < 0) return false;
  char number[32]; // as a field of a line stands there
  std::snprintf(number, sizeof number, " %llu ", static_cast<unsigned long long>(status.st_ino));
  bool is_found = false;
  std::size_t held = 0;
  for (ssize_t got = 1; got > 0 && !is_found;) {
    got = kernel::read(maps, text + held, sizeof text - 1 - held);
    held += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    text[held] = '\0';
    is_found = std::strstr(text, number) != nullptr;
    // The field may go on in what is read next.
    const std::size_t kept = std::min(held, sizeof number);
    std::memmove(text, text + held - kept, kept);
    held = kept;
  }
  kernel::close(maps);
  return is_found;
}

void* map_behind(mapped_part known, std::size_t offset, std::size_t bytes) noexcept {
  void* const all = kernel::map_again(known.mapping, offset + bytes);
  if (all == nullptr) return map_by_file(known.begin + offset, bytes);
  if (offset != 0) kernel::unmap(all, offset);
  return static_cast<char*>(all) + offset;
}

} // namespace heapwise::bench
