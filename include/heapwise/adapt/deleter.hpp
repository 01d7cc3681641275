// Owning pointers to objects of a typed_pool: std::unique_ptr to the type of the object, or to a
// base of it.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include <heapwise/typed_pool.hpp>

namespace heapwise::inline v0_2 {

/// Destroys an object and gives its block back to the pool that it came from.
///
/// Requires: the pool outlives the pointer and is not moved. Thread safety: as the pool.
template <class T, block_pool Pool = pool<>>
class pool_deleter {
 public:
  using pool_type = typed_pool<T, Pool>;

  /// A deleter without a pool, for empty pointers only.
  constexpr pool_deleter() noexcept = default;
  /// A deleter that destroys objects of the pool `objects`.
  explicit constexpr pool_deleter(pool_type& objects) noexcept : objects_{&objects} {}

  /// Requires: `object` came from this deleter's pool.
  void operator()(T* object) const noexcept { objects_->destroy(object); }

  /// Returns: the pool, or nullptr.
  [[nodiscard]] constexpr pool_type* pool() const noexcept { return objects_; }

 private:
  pool_type* objects_ = nullptr;
};

/// A unique_ptr to an object of a pool.
template <class T, block_pool Pool = pool<>>
using pool_ptr = std::unique_ptr<T, pool_deleter<T, Pool>>;

/// Returns: a new object made from `arguments`. The pointer is never empty.
/// Throws: std::bad_alloc on exhaustion, and what T's constructor throws. If the constructor
/// throws, the block is freed.
template <class T, block_pool Pool, class... Arguments>
[[nodiscard]] pool_ptr<T, Pool> make_unique_in(typed_pool<T, Pool>& objects,
                                               Arguments&&... arguments) {
  return pool_ptr<T, Pool>{objects.construct(std::forward<Arguments>(arguments)...),
                           pool_deleter<T, Pool>{objects}};
}

/// Returns: as make_unique_in, but an empty pointer on exhaustion.
/// Throws: what T's constructor throws. If the constructor throws, the block is freed.
template <class T, block_pool Pool, class... Arguments>
[[nodiscard]] pool_ptr<T, Pool> try_make_unique_in(typed_pool<T, Pool>& objects,
                                                   Arguments&&... arguments) {
  return pool_ptr<T, Pool>{objects.try_construct(std::forward<Arguments>(arguments)...),
                           pool_deleter<T, Pool>{objects}};
}

/// Destroys an object by a pointer to `Base`, which is a base class or the object's own type. The
/// object may come from any pool. The deleter keeps the object's address. So `Base` may lie
/// anywhere in the object, and needs no virtual destructor. The deleter takes three words and calls
/// a function by its address.
///
/// Requires: the pool outlives the pointer and is not moved. Thread safety: as the pool.
template <class Base>
class base_deleter {
 public:
  /// A deleter without an object, for empty pointers only.
  constexpr base_deleter() noexcept = default;

  /// Requires: `object` came from `objects`, and the pointer that owns this deleter points to it.
  template <class T, block_pool Pool>
    requires std::convertible_to<T*, Base*>
  base_deleter(typed_pool<T, Pool>& objects, T* object) noexcept
      : objects_{&objects},
        object_{const_cast<std::remove_cv_t<T>*>(object)},
        destroy_{[](void* home, void* block) noexcept {
          static_cast<typed_pool<T, Pool>*>(home)->destroy(static_cast<T*>(block));
        }} {}

  /// Made from the deleter of a class that is derived from `Base`, so that pointers convert as
  /// usual.
  template <class Derived>
    requires(!std::same_as<Derived, Base> && std::convertible_to<Derived*, Base*>)
  base_deleter(const base_deleter<Derived>& other) noexcept
      : objects_{other.objects_}, object_{other.object_}, destroy_{other.destroy_} {}

  /// Effects: destroys the object that this deleter was made for.
  void operator()(Base*) const noexcept { destroy_(objects_, object_); }

 private:
  template <class Derived>
  friend class base_deleter;

  void* objects_ = nullptr;
  void* object_ = nullptr;
  void (*destroy_)(void* objects, void* object) noexcept = nullptr;
};

/// A unique_ptr to an object of any pool. It points to a base class of the object, or to its own
/// type.
template <class Base>
using base_ptr = std::unique_ptr<Base, base_deleter<Base>>;

/// Effects: empties `owned`.
/// Returns: a pointer to `Base` that owns the object; an empty pointer if `owned` is empty.
template <class Base, class T, block_pool Pool>
  requires std::convertible_to<T*, Base*>
[[nodiscard]] base_ptr<Base> to_base(pool_ptr<T, Pool>&& owned) noexcept {
  if (owned == nullptr) return {};
  auto& objects = *owned.get_deleter().pool();
  T* const object = owned.release();
  return base_ptr<Base>{object, base_deleter<Base>{objects, object}};
}

} // namespace heapwise::inline v0_2
