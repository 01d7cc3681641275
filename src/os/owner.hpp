// To which process the memory belongs that this code uses. A child that was made by a bare system
// call (clone, vfork) runs no handlers of fork: it has a copy of the memory, or shares it with its
// parent, and none of the parent's threads.
#pragma once

#include <atomic>
#include <cstdint>

namespace heapwise::os {

/// What a process writes down where a child with a copy of the memory finds zeros.
struct owned_words {
  std::atomic<std::uint32_t> process{0};    // the number of the owner
  std::atomic<bool> has_robust_list{false}; // the C library made the thread that claimed it
  std::atomic<std::uint32_t> heap{0};       // for the heap
};

/// Those of this process. Before the first claim, and if the system cannot make pages of which a
/// child gets zeros (before Linux 4.14), they lie in memory that is copied as all other.
extern constinit std::atomic<owned_words*> the_owned_words;

enum class owner : std::uint8_t {
  this_process,
  other_process, ///< which shares its memory with this one: the parent, after vfork
  nobody,        ///< this is a copy of the memory of another process, or nobody claimed it yet
};

/// Effects: the memory belongs to the calling process. Called when the library is loaded, and in
/// a child with a copy of the memory.
void claim_memory() noexcept;

[[nodiscard]] owner owner_of_memory() noexcept;

/// Returns: whether this is a copy of the memory of a process that had claimed it.
[[nodiscard]] bool is_copy() noexcept;

/// Returns: whether the calling thread may give up rights: it is one of root, has capabilities, or
/// may become another user or group.
[[nodiscard]] bool may_lose_rights() noexcept;

/// Returns: whether the calling thread is the only one in such a copy: what other threads held
/// belongs to nobody.
[[nodiscard]] bool is_alone_in_copy() noexcept;

} // namespace heapwise::os
