// Thread policy: all threads use the pool, behind one lock.
#pragma once

#include <cstddef>
#include <mutex>

#include <heapwise/detail/batch.hpp>
#include <heapwise/thread/unsynchronized.hpp>

namespace heapwise::inline v0_2 {

/// Any thread may use the pool. Each operation takes one std::mutex. This policy is portable and
/// the easiest to predict: exhaustion is exact, and the block that was freed last is reused first.
/// A child of fork may use the pool only if no other thread of the parent was in the middle of an
/// operation, because the lock is not held around a fork.
struct locked {
  static constexpr const char* name = "locked";
  static constexpr bool thread_safe = true;
  static constexpr std::size_t min_stride_bytes = unsynchronized::min_stride_bytes;

  template <class Checking>
  class core;
};

template <class Checking>
class locked::core {
 public:
  core(detail::chunks* chunks, const Checking& check) noexcept : inner_{chunks, check} {}

  void* pop() noexcept {
    const std::scoped_lock lock{mutex_};
    return inner_.pop();
  }

  bool push(void* block) noexcept {
    const std::scoped_lock lock{mutex_};
    return inner_.push(block);
  }

  bool claim(void* block) noexcept {
    const std::scoped_lock lock{mutex_};
    return inner_.claim(block);
  }

  [[nodiscard]] bool contains(const void* address) const noexcept {
    const std::scoped_lock lock{mutex_};
    return inner_.contains(address);
  }

  [[nodiscard]] std::size_t budget_bytes() const noexcept { return 0; }

  [[nodiscard]] std::size_t carved() const noexcept { return inner_.carved(); }
  template <class Visit>
  bool visit_free(Visit&& visit) {
    return inner_.visit_free(visit);
  }
  void restart(std::size_t carved) noexcept { inner_.restart(carved); }
  void put_back(void* block) noexcept { inner_.put_back(block); }

  std::size_t pop_many(void** blocks, std::size_t count) noexcept {
    const std::scoped_lock lock{mutex_};
    return detail::pop_each(inner_, blocks, count);
  }
  std::size_t push_many(void* const* blocks, std::size_t count) noexcept {
    const std::scoped_lock lock{mutex_};
    return detail::push_each(inner_, blocks, count);
  }

 private:
  mutable std::mutex mutex_;
  unsynchronized::core<Checking> inner_;
};

} // namespace heapwise::inline v0_2
