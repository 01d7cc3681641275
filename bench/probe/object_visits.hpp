// Visits to the loaded objects (dl_iterate_phdr) in a process that forks.
//
// glibc calls the visitor under a lock that its fork does not take: if another thread is in there,
// a forked child finds it held for ever. No lock of our own may stand around it, for the program's
// visitors allocate, and would wait for it. So visits are counted. A fork waits a short while until
// there is none. If there still is one, the child makes no visits.
#pragma once

#include <link.h>

#include <cstddef>

namespace heapwise::bench {

using object_visitor = int(dl_phdr_info*, std::size_t, void*);

/// As dl_iterate_phdr(). Returns false, without a call, if !may_visit_objects().
bool visit_objects(object_visitor* visitor, void* argument) noexcept;

/// The same, but also returns false while another thread forks.
bool visit_objects_unless_forking(object_visitor* visitor, void* argument) noexcept;

/// False in a forked child that may have the lock of a visit that its parent made.
[[nodiscard]] bool may_visit_objects() noexcept;

/// In a forked child: also if it was made by a raw call of clone().
void leave_visits_of_parent() noexcept;

} // namespace heapwise::bench
