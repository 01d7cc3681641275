// How much a pool distrusts its user: a policy, off by default and then free of cost.
#pragma once

#include <cstddef>
#include <cstdint>

#include <heapwise/detail/links.hpp>

namespace heapwise::inline v0_2 {

/// The default: a pointer that is not a block of the pool is refused, and nothing else is checked.
struct foreign_checked {
  static constexpr bool enabled = false;
  static constexpr bool refuses_foreign = true;
  static constexpr std::size_t guard_bytes = 0;
  using links = detail::plain_links;

  /// Returns: how a pool reads and writes the link in a free block.
  [[nodiscard]] constexpr links make_links() const noexcept { return {}; }
  /// As checking_policy describes carved, acquire, claim, release and refuse; each does nothing.
  void carved(void*, std::size_t) const noexcept {}
  void acquire(void*, std::size_t) const noexcept {}
  void claim(void*, std::size_t) const noexcept {}
  void release(void*, std::size_t) const noexcept {}
  void refuse(const void*, std::size_t) const noexcept {}
  /// Returns: `word`; seal and unseal change nothing.
  [[nodiscard]] constexpr std::uint64_t seal(const void*, std::uint64_t word) const noexcept {
    return word;
  }
  [[nodiscard]] constexpr std::uint64_t unseal(const void*, std::uint64_t word) const noexcept {
    return word;
  }
};

/// The former name of foreign_checked. Deprecated, because the name suggests that nothing is
/// checked.
using unchecked = foreign_checked;

/// Nothing is checked: freeing a pointer that is not a block of the pool is undefined behaviour.
/// Each free saves a multiplication and two comparisons. `locked` also skips the check. `lock_free`
/// needs the index of the block, so it refuses such a pointer all the same.
struct trusting : foreign_checked {
  static constexpr bool refuses_foreign = false;
};

/// The fault that a checked pool found. The pool prints one line about it and aborts the program.
enum class violation : unsigned char {
  double_free,       ///< a block was freed that was free already
  guard_overwritten, ///< the program wrote behind the end of a block
  write_after_free,  ///< the program wrote to a free block
  link_corrupted,    ///< the link in a free block does not decode to a block
  foreign_pointer,   ///< a pointer was freed that is not a block of the pool
};

} // namespace heapwise::inline v0_2

namespace heapwise::detail::inline v0_2 {

/// Effects: prints one line to standard error without allocating, then aborts the program.
/// `block` is the address. `block_size` is the block size of the pool, or 0 if it is not known
/// here.
[[noreturn]] void report_violation(violation what, const void* block,
                                   std::size_t block_size) noexcept;

/// Returns: a word for a free block, mixed with a key of the process and with the block's address.
/// So a stray write cannot choose the decoded value. Whichever byte it changes, the high bits of
/// the decoded value change.
[[nodiscard]] constexpr std::uint64_t sealed(std::uint64_t word, std::uint64_t key,
                                             std::uintptr_t place) noexcept {
  return ((word ^ key) * 0x9E37'79B9'7F4A'7C15u) ^ (place * 0x9E37'79B9'7F4A'7C15u);
}
[[nodiscard]] constexpr std::uint64_t unsealed(std::uint64_t word, std::uint64_t key,
                                               std::uintptr_t place) noexcept {
  const std::uint64_t product = word ^ (place * 0x9E37'79B9'7F4A'7C15u);
  return (product * 0xF1DE'83E1'9937'733Du) ^ key; // the inverse modulo 2^64
}
static_assert(unsealed(sealed(12345, 678, 90), 678, 90) == 12345);

class chunks;

/// Links that are sealed. They use one word of a block, because the rest is poisoned and must stay
/// poisoned.
class encoded_links {
 public:
  static constexpr bool unrolled = false;
  /// Without `home`, no link is checked.
  explicit encoded_links(std::uintptr_t key = 0, const chunks* home = nullptr) noexcept
      : key_{key}, home_{home} {}
  void store(void* block, void* next) const noexcept;
  /// Returns: the link. Aborts the program if the word does not decode to nullptr or to a block of
  /// `home`.
  [[nodiscard]] void* load(const void* block) const noexcept;

 private:
  std::uintptr_t key_;
  const chunks* home_;
};

/// Returns: a key that differs from process to process.
[[nodiscard]] std::uintptr_t process_key() noexcept;

} // namespace heapwise::detail::inline v0_2

namespace heapwise::inline v0_2 {

/// Detects these faults, and then prints one line and aborts the program: double frees (always,
/// also if two threads free a block at once), writes behind the end of a block, writes to a free
/// block, corrupted links, frees of a pointer that is not a block of the pool. If an object is
/// destroyed, double frees, writes behind the end and foreign pointers are detected before the
/// destructor runs.
///
/// Cost: one guard word behind each block. A block is filled when it is freed, and is read when it
/// is handed out again: O(block size). When a link is read, the chunk of the block that it leads to
/// is searched: O(chunks).
class checked {
 public:
  static constexpr bool enabled = true;
  static constexpr bool refuses_foreign = true;
  static constexpr std::size_t guard_bytes = sizeof(std::uint64_t);
  using links = detail::encoded_links;

  /// Takes the key of the process. Does not check where a link leads.
  checked() noexcept : key_{detail::process_key()} {}
  /// Takes the key of the process. Checks that links lead to blocks of `home`.
  explicit checked(const detail::chunks& home) noexcept
      : key_{detail::process_key()}, home_{&home} {}

  /// Returns: how a pool reads and writes the link in a free block: encoded with the key.
  [[nodiscard]] links make_links() const noexcept { return links{key_, home_}; }
  /// Called when a block is cut from fresh memory. From here on it counts as free.
  void carved(void* block, std::size_t block_size) const noexcept;
  /// Called before a free block is handed out.
  void acquire(void* block, std::size_t block_size) const noexcept;
  /// Called before the object in a block is destroyed. From here on, only `release` may be called
  /// for the block.
  void claim(void* block, std::size_t block_size) const noexcept;
  /// Called when the user gives a block back, whether it was claimed or not.
  void release(void* block, std::size_t block_size) const noexcept;
  /// Called when a pointer was freed that is not a block of the pool. Does nothing for nullptr.
  void refuse(const void* address, std::size_t block_size) const noexcept;
  /// Returns: the form of `word` that is written into the free block: mixed with the key and the
  /// address.
  [[nodiscard]] std::uint64_t seal(const void* block, std::uint64_t word) const noexcept {
    return detail::sealed(word, key_, reinterpret_cast<std::uintptr_t>(block));
  }
  /// Returns: the word that `seal` was called with for this block.
  [[nodiscard]] std::uint64_t unseal(const void* block, std::uint64_t word) const noexcept {
    return detail::unsealed(word, key_, reinterpret_cast<std::uintptr_t>(block));
  }

 private:
  std::uintptr_t key_;
  const detail::chunks* home_ = nullptr;
};

} // namespace heapwise::inline v0_2
