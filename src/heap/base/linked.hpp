// Lists and stacks of objects that hold the links themselves, so that to list one needs no memory.
#pragma once

#include <utility>

#include "os/expects.hpp"

namespace heapwise::detail {

/// Objects with a member `next`, the last one first. Thread safety: none.
template <class T>
class linked_stack {
 public:
  [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }

  void push(T& more) noexcept { more.next = std::exchange(first_, &more); }

  /// Returns: the one that was pushed last. Requires: there is one.
  T& pop() noexcept {
    expects(!is_empty(), "what is popped has something to pop");
    return *std::exchange(first_, first_->next);
  }

  template <class Visit>
  void each(Visit visit) const noexcept {
    for (const T* at = first_; at != nullptr; at = at->next) visit(*at);
  }

 private:
  T* first_ = nullptr;
};

/// Objects with a member `next`, the first one first. Thread safety: none.
template <class T>
class linked_queue {
 public:
  [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }

  void push(T& more) noexcept {
    more.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &more;
    last_ = &more;
  }

  /// Returns: the one that was pushed first. Requires: there is one.
  T& pop() noexcept {
    expects(!is_empty(), "what is popped has something to pop");
    return *std::exchange(first_, first_->next);
  }

  template <class Visit>
  void each(Visit visit) const noexcept {
    for (const T* at = first_; at != nullptr; at = at->next) visit(*at);
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr; // only of a queue that is not empty
};

/// Objects with members `next` and `previous`, the last one first. Each can leave from anywhere.
/// Thread safety: none.
template <class T>
class linked_list {
 public:
  /// Returns: the one that was pushed last, or nullptr.
  [[nodiscard]] T* first() const noexcept { return first_; }

  void push(T& more) noexcept {
    more.previous = nullptr;
    more.next = std::exchange(first_, &more);
    if (more.next != nullptr) more.next->previous = &more;
  }

  /// Requires: it is in this list.
  void remove(T& listed) noexcept {
    expects(listed.previous == nullptr ? first_ == &listed : listed.previous->next == &listed,
            "what leaves a list is in it");
    (listed.previous == nullptr ? first_ : listed.previous->next) = listed.next;
    if (listed.next != nullptr) listed.next->previous = listed.previous;
  }

 private:
  T* first_ = nullptr;
};

} // namespace heapwise::detail
