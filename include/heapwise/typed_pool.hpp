// A pool of objects of one type, over any pool of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <heapwise/block_source.hpp>
#include <heapwise/concepts.hpp>
#include <heapwise/detail/construct.hpp>
#include <heapwise/pool.hpp>
#include <heapwise/pool_options.hpp>

namespace heapwise::detail::inline v0_2 {

/// Makes and ends objects of type T in the blocks of a pool, or of a thread's access to one.
template <class T, class Blocks>
class object_maker {
 public:
  /// Returns: an object in `block`; nullptr if `block` is nullptr. Throws: what the constructor
  /// throws; then the block is free.
  template <class... Arguments>
  static T* make(Blocks& blocks, void* block, Arguments&&... arguments) {
    if (block == nullptr) return nullptr;
    unused_block guard{blocks, block};
    T* const object = construct_in<T>(block, std::forward<Arguments>(arguments)...);
    guard.block = nullptr;
    return object;
  }

  /// Effects and result: as typed_pool::destroy.
  static bool destroy(Blocks& blocks, T* object) noexcept {
    static_assert(std::is_nothrow_destructible_v<T>);
    void* const block = const_cast<std::remove_cv_t<T>*>(object);
    if (!blocks.claim(block)) [[unlikely]]
      return object == nullptr;
    object->~T();
    return blocks.deallocate_claimed(block);
  }

 private:
  /// Frees a block if a constructor throws. No try block: headers compile without exceptions.
  struct unused_block {
    unused_block(Blocks& from, void* taken) noexcept : home{from}, block{taken} {}
    unused_block(const unused_block&) = delete;
    unused_block& operator=(const unused_block&) = delete;
    ~unused_block() {
      if (block != nullptr) home.deallocate(block);
    }
    Blocks& home;
    void* block;
  };
};

} // namespace heapwise::detail::inline v0_2

namespace heapwise::inline v0_2 {

template <class T, class Access>
class local_typed_pool;

/// A pool of objects of one type.
///
/// Pool: where the blocks come from: any pool, or a decorator such as instrumented.
///
/// The destructor of the pool frees all memory and runs no destructor of an object. If objects own
/// something, destroy them before, by `destroy` or `clear`.
///
/// Movable if the pool is. Objects that point to the typed_pool (deleters, adaptors) still point to
/// the old one.
///
/// Thread safety: as the pool.
template <class T, block_pool Pool = pool<>>
class typed_pool {
  using maker = detail::object_maker<T, Pool>;

 public:
  using value_type = T;
  using pool_type = Pool;

  /// Effects: makes a pool for `count` objects that grows as `how` says.
  /// Throws: as the pool's constructor.
  explicit typed_pool(std::size_t count, growth how = growth::fixed,
                      block_source& source = os_blocks())
      : typed_pool{{.block_count = count, .growth = how}, source} {}

  /// Effects: makes a pool with these options. block_size and alignment are always those of T.
  /// Throws: as the pool's constructor.
  explicit typed_pool(const pool_options& options, block_source& source = os_blocks())
      : blocks_{for_objects(options), source} {}

  /// Returns: a new object made from `arguments`.
  /// Throws: std::bad_alloc on exhaustion; what T's constructor throws (then the block is freed).
  template <class... Arguments>
  [[nodiscard]] T* construct(Arguments&&... arguments) {
    return maker::make(blocks_, blocks_.allocate(), std::forward<Arguments>(arguments)...);
  }

  /// Returns: as construct, but nullptr on exhaustion.
  template <class... Arguments>
  [[nodiscard]] T* try_construct(Arguments&&... arguments) noexcept(
      std::is_nothrow_constructible_v<T, Arguments...>) {
    return maker::make(blocks_, blocks_.try_allocate(), std::forward<Arguments>(arguments)...);
  }

  /// Effects: destroys the object and frees its block. Does nothing for nullptr. A pointer that is
  /// not an object of this pool is refused; with `checked`, it aborts the program. With `checked`,
  /// the pool looks for a double free and for a write behind the object before the destructor runs.
  /// Otherwise the pool refuses only the object that this thread destroyed last, and does not
  /// notice if an older object is destroyed again.
  /// Returns: false if the pointer was refused.
  bool destroy(T* object) noexcept { return maker::destroy(blocks_, object); }

  /// Effects: calls visit(object) for each object of the pool, in no certain order. `visit` may
  /// destroy the object that it is called with, but no other one.
  /// Requires, returns, throws, complexity: as pool::for_each. Also requires: each block in use
  /// holds an object.
  template <class Visit>
  bool for_each(Visit&& visit) {
    return blocks_.for_each([&](void* block) { visit(*object_in(block)); });
  }

  /// Effects: destroys all objects. The pool is then as after construction. If the result is false,
  /// no object is destroyed.
  /// Requires: as pool::for_each and pool::reset. Each block in use holds an object, and no
  /// destructor destroys another object of the pool.
  /// Returns: false if the objects could not be found, as pool::for_each. Complexity: O(capacity);
  /// O(1) if T has a trivial destructor.
  bool clear() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      const auto end = [](void* block) noexcept { object_in(block)->~T(); };
      if (!blocks_.for_each(end)) return false;
    }
    blocks_.reset();
    return true;
  }

  /// As pool::handle_of and pool::block_of, for objects.
  [[nodiscard]] std::uint32_t handle_of(const T* object) const noexcept {
    return blocks_.handle_of(object);
  }
  [[nodiscard]] T* object_of(std::uint32_t handle) const noexcept {
    return object_in(blocks_.block_of(handle));
  }

  /// Effects: all blocks are free again; no destructor runs. Requires: as pool::reset.
  void reset() noexcept { blocks_.reset(); }

  /// Only for pools with a cache for each thread. Returns: the calling thread's access to this
  /// pool, as Pool::local.
  template <class Blocks = Pool> // see pool::local
  [[nodiscard]] auto local()
    requires requires(Blocks& blocks) { blocks.local(); }
  {
    return local_typed_pool<T, decltype(blocks_.local())>{blocks_.local()};
  }

  /// Returns: the pool that the objects lie in.
  [[nodiscard]] Pool& blocks() noexcept { return blocks_; }
  [[nodiscard]] const Pool& blocks() const noexcept { return blocks_; }

 private:
  static T* object_in(void* block) noexcept { return std::launder(static_cast<T*>(block)); }

  static pool_options for_objects(pool_options options) noexcept {
    options.block_size = sizeof(T);
    options.alignment = alignof(T);
    return options;
  }

  Pool blocks_;
};

/// A thread's access to a typed_pool, from `typed_pool::local`. The thread's cache is looked up
/// already.
/// Requires and thread safety: as local_pool.
template <class T, class Access>
class local_typed_pool {
  using maker = detail::object_maker<T, Access>;

 public:
  /// For typed_pool::local. `mine` is the result of the pool's `local`.
  explicit local_typed_pool(Access mine) noexcept : mine_{mine} {}

  /// As typed_pool::construct.
  template <class... Arguments>
  [[nodiscard]] T* construct(Arguments&&... arguments) {
    return maker::make(mine_, mine_.allocate(), std::forward<Arguments>(arguments)...);
  }
  /// As typed_pool::try_construct.
  template <class... Arguments>
  [[nodiscard]] T* try_construct(Arguments&&... arguments) noexcept(
      std::is_nothrow_constructible_v<T, Arguments...>) {
    return maker::make(mine_, mine_.try_allocate(), std::forward<Arguments>(arguments)...);
  }
  /// As typed_pool::destroy.
  bool destroy(T* object) noexcept { return maker::destroy(mine_, object); }

 private:
  Access mine_;
};

} // namespace heapwise::inline v0_2
