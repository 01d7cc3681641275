// A pool that counts events and notifies an observer of them. It is a decorator: a plain pool pays
// nothing for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <heapwise/block_source.hpp>
#include <heapwise/detail/failure.hpp>
#include <heapwise/observe/counter.hpp>
#include <heapwise/observe/observed_blocks.hpp>
#include <heapwise/pool_options.hpp>

namespace heapwise::inline v0_2 {

/// The counts of an instrumented pool since it was created.
struct pool_counts {
  std::uint64_t allocations = 0;        ///< blocks handed out
  std::uint64_t frees = 0;              ///< blocks taken back
  std::uint64_t refused_frees = 0;      ///< pointers that the pool refused; nullptr is not counted
  std::uint64_t failed_allocations = 0; ///< requests that found the pool exhausted
  std::uint64_t live = 0;               ///< blocks that are in use now
  std::uint64_t peak = 0;               ///< the largest `live` so far
};

/// An observer without functions: it is notified of nothing.
struct silent {};

/// A pool with counters and an observer.
///
/// Observer: any type. It may have any of these members, and all of them must be noexcept:
///   on_exhausted()                  a request found no block
///   on_growth(size_bytes)           the pool obtained a further piece from its source: a chunk, or
///                                   with thread_cached, room for the caches of more threads
///   on_growth_refused(size_bytes)   the source had no such piece
///   on_given_back(size_bytes)       a piece went back to the source (at destruction, every piece)
///   on_destroyed(const pool_counts&)  the pool is about to give all memory back
/// The growth hooks are on_growth, on_growth_refused and on_given_back. They are called in the
/// middle of an operation, by the thread that caused the event, and under the pool's lock if the
/// pool has one. So they must not use the pool.
///
/// Thread safety: as the pool. No further synchronization is needed. The counters are atomic if the
/// policy is thread-safe, and plain numbers otherwise. Several threads may notify the observer of a
/// thread-safe pool at once. `live` and `peak` are exact: a block is added to `live` after it was
/// taken, and is subtracted before it is given back. So `peak` never exceeds the capacity. There is
/// one exception: while two threads free the same block at the same time, `live` may be lower than
/// the number of blocks in use, and `peak` may miss a block that is taken meanwhile.
/// Cost: a few additions for each operation. With a thread-safe policy, these are additions to
/// cache lines that all threads share.
template <class Pool, class Observer = silent>
class instrumented {
 public:
  using policy = typename Pool::policy;
  using checking = typename Pool::checking;

  /// Effects: as the pool's constructor. The first chunk does not count as growth.
  /// Throws: as the pool's constructor.
  explicit instrumented(const pool_options& options, block_source& source = os_blocks(),
                        Observer observer = {})
      : observer_{std::move(observer)}, source_{source, observer_}, pool_{options, source_} {
    source_.begin_to_notify();
  }

  instrumented(const instrumented&) = delete;
  instrumented& operator=(const instrumented&) = delete;

  ~instrumented() {
    if constexpr (requires { observer_.on_destroyed(pool_counts{}); }) {
      observer_.on_destroyed(counts());
    }
  }

  /// As pool::allocate.
  [[nodiscard]] void* allocate() {
    void* const block = try_allocate();
    if (block == nullptr) detail::throw_bad_alloc();
    return block;
  }

  /// As pool::try_allocate.
  [[nodiscard]] void* try_allocate() noexcept {
    void* const block = pool_.try_allocate();
    if (block == nullptr) {
      failed_allocations_.add();
      if constexpr (requires { observer_.on_exhausted(); }) observer_.on_exhausted();
      return nullptr;
    }
    allocations_.add();
    raise_peak(live_.add());
    return block;
  }

  /// As pool::deallocate.
  bool deallocate(void* block) noexcept {
    if (block == nullptr) return true;
    // The pool first refuses foreign pointers and blocks that it knows to be free.
    return claim(block) && deallocate_claimed(block);
  }

  /// As pool::claim. A refused pointer counts as a refused free, unless it is nullptr.
  [[nodiscard]] bool claim(void* block) noexcept {
    return pool_.claim(block) || (block != nullptr && refuse());
  }

  /// As pool::deallocate_claimed.
  bool deallocate_claimed(void* block) noexcept {
    live_.subtract(); // before the block is given back, so that no block is counted twice
    if (!pool_.deallocate_claimed(block)) { // another thread freed the block meanwhile
      raise_peak(live_.add());
      return refuse();
    }
    frees_.add();
    return true;
  }

  /// As pool::try_allocate_many.
  [[nodiscard]] std::size_t try_allocate_many(std::span<void*> blocks) noexcept {
    std::size_t count = 0;
    while (count != blocks.size() && (blocks[count] = try_allocate()) != nullptr) ++count;
    return count;
  }
  /// As pool::deallocate_many.
  std::size_t deallocate_many(std::span<void* const> blocks) noexcept {
    std::size_t count = 0;
    for (void* const each : blocks) {
      if (each != nullptr && deallocate(each)) ++count;
    }
    return count;
  }

  /// As pool::for_each.
  template <class Visit>
  bool for_each(Visit&& visit) {
    return pool_.for_each(visit);
  }
  /// As pool::shrink.
  bool shrink() noexcept { return pool_.shrink(); }
  /// As pool::handle_of and pool::block_of.
  [[nodiscard]] std::uint32_t handle_of(const void* block) const noexcept {
    return pool_.handle_of(block);
  }
  [[nodiscard]] void* block_of(std::uint32_t handle) const noexcept {
    return pool_.block_of(handle);
  }

  /// As pool::reset. Afterwards, no block counts as live. The other counts continue.
  void reset() noexcept {
    pool_.reset();
    live_.set(0);
  }

  /// Returns: the counts. While other threads use the pool, each number is right, but the numbers
  /// are not all from the same moment.
  [[nodiscard]] pool_counts counts() const noexcept {
    return {.allocations = allocations_.value(),
            .frees = frees_.value(),
            .refused_frees = refused_frees_.value(),
            .failed_allocations = failed_allocations_.value(),
            .live = not_below_zero(live_.value()),
            .peak = peak_.value()};
  }

  /// Returns: the observer that this pool notifies.
  [[nodiscard]] Observer& observer() noexcept { return observer_; }
  [[nodiscard]] const Observer& observer() const noexcept { return observer_; }

  /// As pool::contains.
  [[nodiscard]] bool contains(const void* address) const noexcept {
    return pool_.contains(address);
  }
  /// As the functions of pool with the same names.
  [[nodiscard]] std::size_t block_size() const noexcept { return pool_.block_size(); }
  [[nodiscard]] std::size_t stride_bytes() const noexcept { return pool_.stride_bytes(); }
  [[nodiscard]] std::size_t alignment() const noexcept { return pool_.alignment(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return pool_.capacity(); }
  [[nodiscard]] std::size_t cached_blocks_max() const noexcept { return pool_.cached_blocks_max(); }
  [[nodiscard]] std::size_t chunk_count() const noexcept { return pool_.chunk_count(); }
  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return pool_.reserved_bytes(); }
  /// As pool::budget_bytes, plus the bytes of the counters and the observer.
  [[nodiscard]] std::size_t budget_bytes() const noexcept {
    return pool_.budget_bytes() + sizeof(*this) - sizeof(Pool);
  }

 private:
  using counter = detail::counter<policy::thread_safe>;

  /// `live` is below 0 for a moment if threads free the same block at the same time.
  static constexpr std::uint64_t not_below_zero(std::uint64_t value) noexcept {
    return static_cast<std::int64_t>(value) < 0 ? 0 : value;
  }

  void raise_peak(std::uint64_t live) noexcept { peak_.raise_to(not_below_zero(live)); }

  bool refuse() noexcept {
    refused_frees_.add();
    return false;
  }

  [[no_unique_address]] Observer observer_;
  observed_blocks<Observer> source_; // before the pool, which uses it until the pool is destroyed
  Pool pool_;
  counter allocations_;
  counter frees_;
  counter refused_frees_;
  counter failed_allocations_;
  counter live_;
  counter peak_;
};

} // namespace heapwise::inline v0_2
