// Compiled without exceptions, and without RTTI unless a sanitizer needs it.
#include "plain.hpp"

#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include <heapwise/heapwise.hpp>
#include <heapwise/hybrid.hpp>

#if defined(__cpp_exceptions)
#error "this part of the test must be compiled with -fno-exceptions"
#endif

namespace plain {
namespace {

#if defined(__cpp_rtti)
constexpr bool types_are_known = true;
#else
constexpr bool types_are_known = false;
#endif

alignas(64) std::array<std::byte, 16 * 1024> buffer;

template <class Policy, class Checking>
bool use_pool() {
  heapwise::typed_pool<std::array<int, 8>, heapwise::pool<Policy, Checking>> objects{3};
  auto* const first = objects.try_construct();
  auto* const second = objects.construct();
  const bool had_two = first != nullptr && second != nullptr;
  const bool had_three = objects.try_construct() != nullptr;
  const bool exhausted = objects.try_construct() == nullptr;
  return had_two && had_three && exhausted && objects.destroy(first) && objects.destroy(second) &&
         objects.try_construct() != nullptr;
}

template <class Policy>
bool use_policy() {
  return use_pool<Policy, heapwise::foreign_checked>() && use_pool<Policy, heapwise::checked>();
}

} // namespace

int use_everything() {
  if (!use_policy<heapwise::unsynchronized>()) return __LINE__;
  if (!use_policy<heapwise::locked>()) return __LINE__;
  if (!use_policy<heapwise::lock_free>()) return __LINE__;
  if (!use_pool<heapwise::thread_cached, heapwise::checked>()) return __LINE__;
  heapwise::static_blocks source{buffer.data(), buffer.size()};
  heapwise::arena some{source, 8 * 1024};
  heapwise::arena_resource resource{some};
  std::pmr::vector<int> numbers{&resource};
  for (int i = 0; i < 100; ++i) numbers.push_back(i);
  if (numbers[99] != 99 || some.try_allocate(1 << 20) != nullptr) return __LINE__;
  heapwise::arena_resource same{some};
  const std::pmr::memory_resource& other = same;
  if (!resource.is_equal(resource)) return __LINE__;
  if (resource.is_equal(other) != types_are_known) return __LINE__;
  heapwise::pool<> blocks{{.block_size = 64, .block_count = 4}};
  heapwise::pool_resource<heapwise::pool<>> of_pool{blocks};
  heapwise::pool_resource<heapwise::pool<>> of_same{blocks};
  if (!of_pool.is_equal(of_pool)) return __LINE__;
  if (of_pool.is_equal(of_same) != types_are_known) return __LINE__;
  return 0;
}

void exhaust_pool() {
  heapwise::pool<> blocks{{.block_size = 64, .block_count = 1}};
  static_cast<void>(blocks.allocate());
  static_cast<void>(blocks.allocate());
}

void exhaust_arena() {
  heapwise::static_blocks source{buffer.data(), buffer.size()};
  heapwise::arena some{source, 8 * 1024};
  static_cast<void>(some.allocate(1 << 20));
}

void exhaust_hybrid() {
  heapwise::static_blocks source{buffer.data(), buffer.size()};
  heapwise::hybrid<> heap{{}, source};
  static_cast<void>(heap.allocate(1 << 20));
}

} // namespace plain
