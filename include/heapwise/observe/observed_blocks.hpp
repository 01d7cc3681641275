// A block source that notifies an observer of the pieces that pass through it.
#pragma once

#include <cstddef>

#include <heapwise/block_source.hpp>

namespace heapwise::inline v0_2 {

/// Forwards to another source and notifies an observer. The observer may lack any of these
/// functions:
/// - on_growth(size_bytes), after a piece was obtained, or was enlarged by this many bytes.
/// - on_growth_refused(size_bytes), after the source had no such piece.
/// - on_given_back(size_bytes), before a piece goes back.
///
/// It does not notify the observer before `begin_to_notify`. So pieces that its user obtains while
/// the user is constructed do not count as growth.
/// Requires: the source and the observer outlive it.
/// Thread safety: as the source and the observer. No other thread may use it before begin_to_notify
/// has returned.
template <class Observer>
class observed_blocks final : public block_source {
 public:
  /// A source that forwards to `upstream`. It notifies `observer` from `begin_to_notify` on.
  observed_blocks(block_source& upstream, Observer& observer) noexcept
      : upstream_{&upstream}, observer_{&observer} {}

  /// Effects: from now on the observer is notified.
  void begin_to_notify() noexcept { notifies_ = true; }

  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override {
    void* const memory = upstream_->allocate(size_bytes, alignment);
    if (!notifies_) return memory;
    if (memory != nullptr) {
      if constexpr (requires { observer_->on_growth(size_bytes); }) {
        observer_->on_growth(size_bytes);
      }
    } else if constexpr (requires { observer_->on_growth_refused(size_bytes); }) {
      observer_->on_growth_refused(size_bytes);
    }
    return memory;
  }

  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override {
    if constexpr (requires { observer_->on_given_back(size_bytes); }) {
      if (notifies_) observer_->on_given_back(size_bytes);
    }
    upstream_->deallocate(memory, size_bytes, alignment);
  }

  void* enlarge(void* memory, std::size_t size_bytes, std::size_t larger_bytes,
                std::size_t alignment) noexcept override {
    void* const larger = upstream_->enlarge(memory, size_bytes, larger_bytes, alignment);
    if constexpr (requires { observer_->on_growth(size_bytes); }) {
      if (larger != nullptr && notifies_) observer_->on_growth(larger_bytes - size_bytes);
    }
    return larger;
  }

  void purge(void* memory, std::size_t size_bytes) noexcept override {
    upstream_->purge(memory, size_bytes);
  }
  [[nodiscard]] std::size_t granularity_bytes() const noexcept override {
    return upstream_->granularity_bytes();
  }

 private:
  block_source* upstream_;
  Observer* observer_;
  bool notifies_ = false;
};

} // namespace heapwise::inline v0_2
