// The pools that every contract is checked on, and small tools to use them up.
#pragma once

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/heapwise.hpp>

namespace contract {

using heapwise::checked;
using heapwise::foreign_checked;
using heapwise::growth;
using heapwise::pool;
using heapwise::pool_options;

/// A pool type, and how the pools of the running test case grow.
template <class Policy, class Checking>
struct pool_kind {
  using policy = Policy;
  using checking = Checking;
  using pool_type = pool<Policy, Checking>;
  /// An address that is not a block of the pool is refused; else its free is undefined behaviour.
  static constexpr bool refuses_foreign = Checking::refuses_foreign;
  /// No parameter of the type: what differs only in this is compiled once.
  static inline growth how = growth::fixed;

  /// Options for `count` blocks; a pool that may grow starts with a quarter of them.
  static pool_options options(std::size_t block_size, std::size_t count,
                              std::size_t alignment = 0) {
    const bool grows = how == growth::geometric;
    return {.block_size = block_size,
            .block_count = grows ? (count + 3) / 4 : count,
            .alignment = alignment,
            .growth = how,
            .max_block_count = grows ? count : 0};
  }
};

/// What one run of a contract is about: a kind of pool and how it grows.
template <class Policy, class Checking, growth How>
struct setting {
  using kind = pool_kind<Policy, Checking>;
  using checking = Checking;
  using pool_type = typename kind::pool_type;
  static constexpr growth how = How;
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
      CONTRACT_SETTINGS_OF(heapwise::lock_free),                                          \
      CONTRACT_SETTINGS_OF(heapwise::lock_free_shards<1>),                                \
      CONTRACT_SETTINGS_OF(heapwise::thread_cached)

/// CONTRACT_TEST_CASE("name", S, SETTING...) { ... }: a test case for each setting. In its body S
/// is the setting's kind of pool, and the body is compiled once for each kind.
#define CONTRACT_TEST_CASE(name, S, ...) \
  CONTRACT_TEST_CASE_OF(name, S, DOCTEST_ANONYMOUS(contract_body_), __VA_ARGS__)
#define CONTRACT_TEST_CASE_OF(name, S, body, ...)  \
  template <class S>                               \
  void body();                                     \
  TEST_CASE_TEMPLATE(name, Setting, __VA_ARGS__) { \
    Setting::kind::how = Setting::how;             \
    body<typename Setting::kind>();                \
  }                                                \
  template <class S>                               \
  void body()

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
