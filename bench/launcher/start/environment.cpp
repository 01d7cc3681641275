#include "launcher/start/environment.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace heapwise::bench {
namespace {

struct text {
  char* begin = nullptr;
  std::size_t size = 0;
};

// Both live until the process ends: the program is started with them.
text content;
char** entries;

bool read_all(int file) {
  constexpr std::size_t first_room = 64 * 1024;
  std::size_t room = 0;
  while (true) {
    if (content.size == room) {
      room = room == 0 ? first_room : 2 * room;
      auto* larger = static_cast<char*>(std::realloc(content.begin, room));
      if (larger == nullptr) return false;
      content.begin = larger;
    }
    const ssize_t got = read(file, content.begin + content.size, room - content.size);
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) content.size += static_cast<std::size_t>(got);
  }
}

bool is_setting(const char* entry) {
  const char* equals = std::strchr(entry, '=');
  return equals != nullptr && equals != entry;
}

char** split() {
  if (content.size != 0 && content.begin[content.size - 1] != '\0') return nullptr;
  std::size_t count = 0;
  for (std::size_t i = 0; i < content.size; ++i) count += content.begin[i] == '\0' ? 1 : 0;
  entries = static_cast<char**>(std::calloc(count + 1, sizeof(char*)));
  if (entries == nullptr) return nullptr;
  char* at = content.begin;
  for (std::size_t i = 0; i < count; at += std::strlen(at) + 1, ++i) {
    if (!is_setting(at)) return nullptr;
    entries[i] = at;
  }
  return entries;
}

} // namespace

char** read_environment(int file) {
  const bool whole = read_all(file);
  close(file);
  return whole ? split() : nullptr;
}

} // namespace heapwise::bench
