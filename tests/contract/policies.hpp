// The pools that every contract is checked on, and small tools to use them up.
#pragma once

#include <cstddef>
#include <vector>

#include <heapwise/heapwise.hpp>

namespace contract {

using heapwise::checked;
using heapwise::foreign_checked;
using heapwise::growth;
using heapwise::pool;
using heapwise::pool_options;

/// A pool type and how it grows: what one run of a contract is about.
template <class Policy, class Checking, growth How>
struct setting {
  using policy = Policy;
  using checking = Checking;
  using pool_type = pool<Policy, Checking>;
  static constexpr growth how = How;
  /// An address that is not a block of the pool is refused; else its free is undefined behaviour.
  static constexpr bool refuses_foreign = Checking::refuses_foreign;

  /// Options for `count` blocks; a pool that may grow starts with a quarter of them.
  static constexpr pool_options options(std::size_t block_size, std::size_t count,
                                        std::size_t alignment = 0) {
    const bool grows = how == growth::geometric;
    return {.block_size = block_size,
            .block_count = grows ? (count + 3) / 4 : count,
            .alignment = alignment,
            .growth = how,
            .max_block_count = grows ? count : 0};
  }
};

/// A line for each new policy goes here.
#define CONTRACT_SETTINGS_OF(policy)                                                     \
  contract::setting<policy, heapwise::trusting, heapwise::growth::fixed>,                \
      contract::setting<policy, heapwise::trusting, heapwise::growth::geometric>,        \
      contract::setting<policy, heapwise::foreign_checked, heapwise::growth::fixed>,     \
      contract::setting<policy, heapwise::foreign_checked, heapwise::growth::geometric>, \
      contract::setting<policy, heapwise::checked, heapwise::growth::fixed>,             \
      contract::setting<policy, heapwise::checked, heapwise::growth::geometric>

#define CONTRACT_SETTINGS                                                                 \
  CONTRACT_SETTINGS_OF(heapwise::unsynchronized), CONTRACT_SETTINGS_OF(heapwise::locked), \
      CONTRACT_SETTINGS_OF(heapwise::lock_free), CONTRACT_SETTINGS_OF(heapwise::thread_cached)

/// Allocates until the pool has no more, `most` blocks at the most.
template <class Pool>
std::vector<void*> drain(Pool& from, std::size_t most = static_cast<std::size_t>(-1)) {
  std::vector<void*> blocks;
  while (blocks.size() < most) {
    void* const block = from.try_allocate();
    if (block == nullptr) break;
    blocks.push_back(block);
  }
  return blocks;
}

} // namespace contract
