// What addresses of the process mean: which files are mapped where, and which builds of them.
#include <fcntl.h>
#include <link.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "probe/loaded_objects.hpp"
#include "probe/object_visits.hpp"
#include "probe/provider.hpp"
#include "recorder/caller_rule.hpp"
#include "recorder/own_filter.hpp"
#include "recorder/session.hpp"
#include "trace/kernel.hpp"

namespace heapwise::bench {

namespace {

// Used by one thread at a time. Not on its stack, which may have room for a signal and little more.
constinit provider noted_object; ///< what is read of an object
constinit char piece[4096 + 1];  ///< of /proc/self/maps

/// "build-id ADDRESS ID" for an object that has one. The address is that of its code.
int append_build_id(dl_phdr_info* object, std::size_t, void* argument) noexcept {
  maps_text& maps = *static_cast<maps_text*>(argument);
  noted_object.build_id[0] = '\0';
  std::uint64_t code = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 && code == 0) {
      code = object->dlpi_addr + part.p_vaddr;
    }
    const auto* notes = reinterpret_cast<const unsigned char*>(object->dlpi_addr + part.p_vaddr);
    if (part.p_type == PT_NOTE && noted_object.build_id[0] == '\0') {
      detail::read_build_id(notes, part.p_memsz, noted_object);
    }
  }
  if (code == 0 || noted_object.build_id[0] == '\0') return 0;
  const std::uint32_t at = maps.bytes.load(std::memory_order_relaxed);
  char line[32 + sizeof noted_object.build_id];
  char* end = line;
  for (const char each : std::string_view{"build-id "}) *end++ = each;
  for (int shift = 60; shift >= 0; shift -= 4) *end++ = "0123456789abcdef"[code >> shift & 15];
  *end++ = ' ';
  for (const char* id = noted_object.build_id; *id != '\0'; ++id) *end++ = *id;
  *end++ = '\n';
  const auto bytes = static_cast<std::uint32_t>(end - line);
  if (at + bytes >= maps_text::most_bytes) return 1;
  std::memcpy(maps.text + at, line, bytes);
  maps.bytes.store(at + bytes, std::memory_order_release);
  return 0;
}

/// Appends the file mappings that hold code, as whole lines.
void append_code_maps(maps_text& maps) noexcept {
  const int file = kernel::open("/proc/self/maps", O_RDONLY);
  if (file < 0) return;
  std::size_t held = 0;
  std::uint32_t at = maps.bytes.load(std::memory_order_relaxed);
  for (;;) {
    const ssize_t got = kernel::read(file, piece + held, sizeof piece - 1 - held);
    if (got <= 0) break;
    held += static_cast<std::size_t>(got);
    piece[held] = '\0';
    char* line = piece;
    while (char* end = std::strchr(line, '\n')) {
      const auto bytes = static_cast<std::uint32_t>(end + 1 - line);
      *end = '\0';
      const char* path = std::strchr(line, '/');
      const bool code = path != nullptr && std::strstr(line, " r-xp ") != nullptr;
      *end = '\n';
      if (code && at + bytes < maps_text::most_bytes) {
        std::memcpy(maps.text + at, line, bytes);
        at += bytes;
      }
      line = end + 1;
    }
    held -= static_cast<std::size_t>(line - piece);
    std::memmove(piece, line, held);
    if (held == sizeof piece - 1) held = 0; // a line that is longer than any path
  }
  kernel::close(file);
  maps.bytes.store(at, std::memory_order_release);
}

} // namespace

void session::note_modules() noexcept {
  const std::uint64_t loaded = objects_loaded();
  maps_text& maps = process_.texts->maps;
  if (maps.loaded.load(std::memory_order_relaxed) == loaded) return;
  forget_caller_rules();
  if (has_own_filter() || !may_visit_objects()) {
    // A filter may end the process for a file that is opened. What is loaded then has no name.
    maps.loaded.store(loaded, std::memory_order_relaxed);
    return;
  }
  std::uint32_t idle = 0;
  if (!maps.busy.compare_exchange_strong(idle, 1, std::memory_order_acquire)) return;
  const int saved_errno = errno;
  visit_objects(append_build_id, &maps);
  append_code_maps(maps);
  maps.loaded.store(loaded, std::memory_order_relaxed);
  maps.busy.store(0, std::memory_order_release);
  errno = saved_errno;
}

} // namespace heapwise::bench
