// An array of zeros that is fast to begin and to search at random places.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace heapwise::bench {

/// Of values for which zeros are a value. What was not touched has no memory. If it is large, its
/// pages are as large as the kernel has them: with small ones, the first use of each costs a fault,
/// and nearly each place that is looked at costs a walk through the page tables.
template <class Value>
class zeroed_array {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  zeroed_array() = default;
  explicit zeroed_array(std::size_t size) : size_{size} {
    // Whole large pages lie in it wherever it begins.
    bytes_ = size * sizeof(Value) + (is_large() ? large_page : 0);
    mapping_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) throw std::bad_alloc{};
    auto begin = reinterpret_cast<std::uintptr_t>(mapping_);
    if (is_large()) {
      begin = (begin + large_page - 1) / large_page * large_page;
      madvise(reinterpret_cast<void*>(begin), size * sizeof(Value), MADV_HUGEPAGE);
    }
    values_ = reinterpret_cast<Value*>(begin);
  }
  ~zeroed_array() {
    if (mapping_ != nullptr) munmap(mapping_, bytes_);
  }
  zeroed_array(const zeroed_array&) = delete;
  zeroed_array& operator=(const zeroed_array&) = delete;
  zeroed_array(zeroed_array&& other) noexcept { swap(other); }
  zeroed_array& operator=(zeroed_array&& other) noexcept {
    zeroed_array{std::move(other)}.swap(*this);
    return *this;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Value* data() const noexcept { return values_; }
  [[nodiscard]] Value& operator[](std::size_t place) const noexcept { return values_[place]; }
  [[nodiscard]] Value* begin() const noexcept { return values_; }
  [[nodiscard]] Value* end() const noexcept { return values_ + size_; }

 private:
  static constexpr std::size_t large_page = std::size_t{2} << 20;

  [[nodiscard]] bool is_large() const noexcept { return size_ * sizeof(Value) >= large_page; }
  void swap(zeroed_array& other) noexcept {
    std::swap(mapping_, other.mapping_);
    std::swap(bytes_, other.bytes_);
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
  }

  void* mapping_ = nullptr;
  std::size_t bytes_ = 0; ///< of the mapping
  Value* values_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace heapwise::bench
