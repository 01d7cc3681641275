// A list that grows without malloc, which a stopped thread may be in the middle of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "os/os.hpp"

namespace heapwise::gc {

template <class Item>
class page_list {
  static_assert(std::is_trivially_copyable_v<Item>);

 public:
  /// Returns: whether there was memory for it.
  [[nodiscard]] bool add(const Item& item) noexcept {
    if (size_ == room_ && !grow()) return false;
    items_[size_++] = item;
    return true;
  }
  void clear() noexcept { size_ = 0; }
  void remove_last() noexcept { --size_; }
  /// Effects: gives the memory back; the list is empty.
  void unmap() noexcept {
    if (items_ != nullptr) os::unmap(items_, bytes_);
    *this = {};
  }
  [[nodiscard]] Item& last() noexcept { return items_[size_ - 1]; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Item* begin() noexcept { return items_; }
  [[nodiscard]] Item* end() noexcept { return items_ + size_; }

 private:
  bool grow() noexcept {
    const std::size_t old_bytes = room_ * sizeof(Item);
    const std::size_t bytes = std::max<std::size_t>(2 * bytes_, os::page_bytes());
    auto* const larger = static_cast<Item*>(os::map(bytes, os::page_bytes()));
    if (larger == nullptr) return false;
    std::copy_n(items_, size_, larger);
    if (old_bytes != 0) os::unmap(items_, bytes_);
    items_ = larger;
    bytes_ = bytes;
    room_ = bytes / sizeof(Item);
    return true;
  }

  Item* items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
  std::size_t bytes_ = 0;
};

} // namespace heapwise::gc
