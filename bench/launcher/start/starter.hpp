// The socket by which another process says when the program starts, and learns when it has ended.
#pragma once

#include <cstdint>

namespace heapwise::bench {

/// Programs that are to run at once are prepared by launchers of their own, and then started
/// together. Of the socket, one byte that arrives means "start now"; the end of the stream means
/// "do not start", or "end at once" if the program runs. When the program has ended, one byte is
/// sent.
class starter {
 public:
  /// Requires: `socket` is a connected stream socket, or -1: the program starts at once.
  explicit starter(int socket) : socket_{socket} {}

  /// Effects: waits for the byte. Returns: whether it came; false if the stream ended first.
  [[nodiscard]] bool wait() const;

  /// Effects: tells the other side that the program has ended.
  void tell_end() const;

  /// Returns: a descriptor that becomes readable when the stream ends; -1 if there is no socket.
  [[nodiscard]] int descriptor() const { return socket_; }

 private:
  int socket_;
};

} // namespace heapwise::bench
