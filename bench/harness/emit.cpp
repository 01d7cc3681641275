#include "harness/emit.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heapwise::bench {
namespace {

constexpr int exit_our_bug = 70;

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "error E070: a line could not be written (%s)\n", why);
  std::_Exit(exit_our_bug);
}

} // namespace

char* line_buffer() noexcept {
  static char buffer[longest_line];
  return buffer;
}

void emit(const json_line& line) noexcept {
  if (!line.ok()) give_up("it is too long");
  std::string_view rest = line.text();
  while (!rest.empty()) {
    const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up(std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

} // namespace heapwise::bench
