// An array of zeros that is fast to begin and to search at random places.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
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
  explicit zeroed_array(std::size_t size)
      : values_{static_cast<Value*>(reserve(size))}, size_{size} {
    if (mprotect(values_, bytes(), PROT_READ | PROT_WRITE) != 0) {
      munmap(values_, bytes());
      throw std::bad_alloc{};
    }
    ask_for_large_pages();
  }
  ~zeroed_array() {
    if (values_ != nullptr) munmap(values_, bytes());
  }

  /// Adds zeros at the end. The values keep their pages, so no memory is cleared for them again,
  /// but they have another address. Where the kernel moves no pages, as under a filter of system
  /// calls, the values are copied.
  ///
  /// Requires: `size` is larger, and the array is not empty.
  /// Errors: std::bad_alloc, and nothing has changed.
  void grow(std::size_t size) {
    void* const place = reserve(size);
    if (mremap(values_, bytes(), bytes_of(size), MREMAP_MAYMOVE | MREMAP_FIXED, place) ==
        MAP_FAILED) {
      copy_to(place, bytes_of(size));
    }
    values_ = static_cast<Value*>(place);
    size_ = size;
    ask_for_large_pages();
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

  [[nodiscard]] static std::size_t bytes_of(std::size_t size) noexcept {
    return size * sizeof(Value);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_of(size_); }

  /// Addresses that nothing uses, without memory. They begin where a large page does, if one fits.
  [[nodiscard]] static void* reserve(std::size_t size) {
    const std::size_t whole = bytes_of(size);
    const std::size_t slack = whole >= large_page ? large_page : 0;
    void* const mapping =
        mmap(nullptr, whole + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc{};
    if (slack == 0) return mapping;
    auto* const bytes = static_cast<std::byte*>(mapping);
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(bytes) % large_page;
    if (before != 0) munmap(bytes, before);
    munmap(bytes + before + whole, slack - before);
    return bytes + before;
  }

  void copy_to(void* place, std::size_t place_bytes) {
    if (mprotect(place, place_bytes, PROT_READ | PROT_WRITE) != 0) {
      munmap(place, place_bytes);
      throw std::bad_alloc{};
    }
    std::memcpy(place, values_, bytes());
    munmap(values_, bytes());
  }

  void ask_for_large_pages() noexcept {
    if (bytes() >= large_page) madvise(values_, bytes(), MADV_HUGEPAGE);
  }

  void swap(zeroed_array& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
  }

  Value* values_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace heapwise::bench
