// The filter that lets the kernel tell of the system calls by which a program changes names.
#pragma once

namespace heapwise::bench {

struct call_filter {
  int listener = -1;             ///< the kernel tells of the calls here
  const char* missing = nullptr; ///< why there is no listener
};

/// Whether the program may be told never to gain rights by exec: false if it has more rights than
/// its user, by its mode or by capabilities of its file.
bool may_lose_rights(const char* program);

/// Effects: from now on this process and all that it starts wait in each of these calls until the
/// reader of the listener has answered. Nothing else changes: the kernel does the call then. A
/// signal does not interrupt the wait once the call was read. loses_rights: a user without
/// CAP_SYS_ADMIN may do so only if exec gives no more rights from now on.
call_filter install_call_filter(bool loses_rights);

} // namespace heapwise::bench
