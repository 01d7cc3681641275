#include "launcher/start/starter.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace heapwise::bench {

bool starter::wait() const {
  if (socket_ < 0) return true;
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(socket_, &byte, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

void starter::tell_end() const {
  if (socket_ >= 0) static_cast<void>(send(socket_, "e", 1, MSG_NOSIGNAL));
}

} // namespace heapwise::bench
