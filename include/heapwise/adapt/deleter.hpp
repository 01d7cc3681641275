// Objects of a typed_pool that std::unique_ptr owns.
#pragma once

#include <memory>
#include <utility>

#include <heapwise/pool.hpp>

namespace heapwise::inline v0_1 {

/// Destroys an object and gives its block back to the pool that it came from.
///
/// Requires: the pool outlives the pointer. Thread safety: as the pool.
template <class T, class Policy = unsynchronized, class Checking = foreign_checked>
class pool_deleter {
 public:
  using pool_type = typed_pool<T, Policy, Checking>;

  /// A deleter without a pool, for empty pointers only.
  constexpr pool_deleter() noexcept = default;
  explicit constexpr pool_deleter(pool_type& objects) noexcept : objects_{&objects} {}

  /// Requires: `object` came from this deleter's pool.
  void operator()(T* object) const noexcept { objects_->destroy(object); }

  /// Returns: the pool, or nullptr.
  [[nodiscard]] constexpr pool_type* pool() const noexcept { return objects_; }

 private:
  pool_type* objects_ = nullptr;
};

/// A unique_ptr to an object of a pool.
template <class T, class Policy = unsynchronized, class Checking = foreign_checked>
using pool_ptr = std::unique_ptr<T, pool_deleter<T, Policy, Checking>>;

/// Returns: a new object made from `arguments`, never empty.
/// Throws: std::bad_alloc on exhaustion; what T's constructor throws (the block is freed then).
template <class T, class Policy, class Checking, class... Arguments>
[[nodiscard]] pool_ptr<T, Policy, Checking> make_unique_in(typed_pool<T, Policy, Checking>& objects,
                                                           Arguments&&... arguments) {
  return pool_ptr<T, Policy, Checking>{objects.construct(std::forward<Arguments>(arguments)...),
                                       pool_deleter<T, Policy, Checking>{objects}};
}

/// Returns: as make_unique_in, but empty on exhaustion.
/// Throws: what T's constructor throws (the block is freed then).
template <class T, class Policy, class Checking, class... Arguments>
[[nodiscard]] pool_ptr<T, Policy, Checking> try_make_unique_in(
    typed_pool<T, Policy, Checking>& objects, Arguments&&... arguments) {
  return pool_ptr<T, Policy, Checking>{objects.try_construct(std::forward<Arguments>(arguments)...),
                                       pool_deleter<T, Policy, Checking>{objects}};
}

} // namespace heapwise::inline v0_1
