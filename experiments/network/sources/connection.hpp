// Two connected ends of a stream on this machine.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "harness/cell.hpp"
#include "harness/processes/descriptor.hpp"

namespace networks {

using namespace heapwise::bench;

struct connection {
  descriptor here{-1};
  descriptor there{-1};

  [[nodiscard]] bool valid() const noexcept { return here.valid() && there.valid(); }
};

/// Small messages are sent at once, not kept for a fuller packet.
inline void send_at_once(const descriptor& end) noexcept {
  const int on = 1;
  setsockopt(end.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// corked: small messages wait until a whole packet is full, or until this is called without.
inline void cork(int end, bool corked) noexcept {
  const int on = corked ? 1 : 0;
  setsockopt(end, IPPROTO_TCP, TCP_CORK, &on, sizeof on);
}

/// Over 127.0.0.1; not valid where that is forbidden. joins: small messages may wait for the next
/// ones and travel in one packet.
template <bool joins>
connection over_tcp() noexcept {
  const descriptor listener{socket(AF_INET, SOCK_STREAM, 0)};
  descriptor here{socket(AF_INET, SOCK_STREAM, 0)};
  if (!listener.valid() || !here.valid()) return {};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (bind(listener.number(), any, length) != 0 || listen(listener.number(), 1) != 0 ||
      getsockname(listener.number(), any, &length) != 0 ||
      connect(here.number(), any, length) != 0) {
    return {};
  }
  descriptor there{accept(listener.number(), nullptr, nullptr)};
  if (!joins) {
    send_at_once(here);
    send_at_once(there);
  }
  return {std::move(here), std::move(there)};
}

inline connection over_unix() noexcept {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return {};
  return {descriptor{ends[0]}, descriptor{ends[1]}};
}

} // namespace networks
