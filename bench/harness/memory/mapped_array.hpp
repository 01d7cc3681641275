// An array straight from the kernel, all pages present: what is measured must not share a heap or a
// page fault with what measures it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace heapwise::bench {

template <class Type>
class mapped_array {
  static_assert(std::is_trivially_destructible_v<Type>);

 public:
  /// Throws std::bad_alloc. The elements are value-initialized.
  explicit mapped_array(std::size_t count) : count_{count} {
    if (count == 0) return;
    void* memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    items_ = static_cast<Type*>(memory);
    std::uninitialized_value_construct_n(items_, count);
  }
  ~mapped_array() {
    if (items_ != nullptr) munmap(items_, bytes());
  }
  mapped_array(const mapped_array&) = delete;
  mapped_array& operator=(const mapped_array&) = delete;

  [[nodiscard]] Type* data() const noexcept { return items_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] Type& operator[](std::size_t index) const noexcept { return items_[index]; }
  [[nodiscard]] Type* begin() const noexcept { return items_; }
  [[nodiscard]] Type* end() const noexcept { return items_ + count_; }
  [[nodiscard]] std::span<Type> span() const noexcept { return {items_, count_}; }

 private:
  [[nodiscard]] std::size_t bytes() const noexcept { return count_ * sizeof(Type); }

  Type* items_ = nullptr;
  std::size_t count_;
};

} // namespace heapwise::bench
