// The contracts between the parts, in code.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <heapwise/standard.hpp>

namespace heapwise::inline v0_2 {

/// How much a pool distrusts its user. The pool calls `carved` for each block when the block is cut
/// from fresh memory, `acquire` before it hands the block out, and `release` when the block comes
/// back. It calls `claim` before the object in a block is destroyed, if the block holds one. It
/// calls `refuse` for a pointer that is not a block of the pool (or for nullptr) before it refuses
/// the pointer. With `seal` and `unseal`, it writes a word that is not a pointer into a free block
/// and reads it. If a policy can be constructed from the pool's chunks, it gets them.
template <class Checking>
concept checking_policy =
    std::default_initializable<Checking> && std::copyable<Checking> &&
    requires(const Checking check, void* block, std::size_t size, std::uint64_t word) {
      { Checking::enabled } -> std::convertible_to<bool>;
      { Checking::refuses_foreign } -> std::convertible_to<bool>;
      { Checking::guard_bytes } -> std::convertible_to<std::size_t>;
      { check.make_links() } -> std::same_as<typename Checking::links>;
      { check.carved(block, size) } noexcept;
      { check.acquire(block, size) } noexcept;
      { check.claim(block, size) } noexcept;
      { check.release(block, size) } noexcept;
      { check.refuse(block, size) } noexcept;
      { check.seal(block, word) } noexcept -> std::same_as<std::uint64_t>;
      { check.unseal(block, word) } noexcept -> std::same_as<std::uint64_t>;
    };

/// How threads are kept apart: a tag whose nested `core` holds the free blocks of one pool. `pop`
/// returns a block or nullptr. `push` takes a block back, or returns false for an address that is
/// not a block of the pool. Both apply the checking policy. `claim` is called before the object in
/// a block is destroyed and the block is pushed. It returns false for a pointer that `push` would
/// refuse, and for a block that is known to be free. `contains` returns whether an address is the
/// first byte of a block. `budget_bytes` returns the bytes that the core obtained beside its own
/// object.
///
/// The other functions are called while no other thread uses the pool. `carved` returns how many
/// blocks were cut from the chunks so far: the blocks with the lowest indices. `visit_free` calls a
/// function for each of these blocks that is free. It returns false, and visits no block, if the
/// core does not know the free blocks. `restart` forgets all free blocks. From then on, as many
/// blocks as its argument says count as cut, and the others are cut again. `put_back` then makes a
/// block free again that was free before, without a call of the checking policy. A core may have
/// `pop_many(blocks, count)` and `push_many`, which return how many blocks they popped or pushed.
template <class Policy, class Checking>
concept thread_policy =
    checking_policy<Checking> && requires(typename Policy::template core<Checking>& core,
                                          const typename Policy::template core<Checking>& constant,
                                          void* block, std::size_t size) {
      { Policy::name } -> std::convertible_to<const char*>;
      { Policy::thread_safe } -> std::convertible_to<bool>;
      { Policy::min_stride_bytes } -> std::convertible_to<std::size_t>;
      { core.pop() } noexcept -> std::same_as<void*>;
      { core.push(block) } noexcept -> std::same_as<bool>;
      { core.claim(block) } noexcept -> std::same_as<bool>;
      { core.restart(size) } noexcept;
      { core.put_back(block) } noexcept;
      {
        core.visit_free([](void*) {})
      } -> std::same_as<bool>;
      { constant.carved() } noexcept -> std::same_as<std::size_t>;
      { constant.contains(block) } noexcept -> std::same_as<bool>;
      { constant.budget_bytes() } noexcept -> std::same_as<std::size_t>;
    };

/// Anything that hands out blocks of one size: pools and their decorators.
template <class Pool>
concept block_pool = requires(Pool& pool, void* block) {
  { pool.allocate() } -> std::same_as<void*>;
  { pool.try_allocate() } noexcept -> std::same_as<void*>;
  { pool.deallocate(block) } noexcept -> std::same_as<bool>;
  { pool.claim(block) } noexcept -> std::same_as<bool>;
  { pool.deallocate_claimed(block) } noexcept -> std::same_as<bool>;
  { pool.contains(block) } noexcept -> std::same_as<bool>;
  { pool.block_size() } noexcept -> std::same_as<std::size_t>;
  { pool.alignment() } noexcept -> std::same_as<std::size_t>;
};

} // namespace heapwise::inline v0_2
