// How much a pool distrusts its user: a policy, off by default and then free of cost.
#pragma once

#include <cstddef>
#include <cstdint>

#include <heapwise/detail/links.hpp>

namespace heapwise::inline v0_1 {

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

/// The former name of foreign_checked. Deprecated: it reads as if nothing was checked.
using unchecked = foreign_checked;

/// Nothing is checked: freeing a pointer that is not a block of the pool is undefined behaviour.
/// Saves a product and two comparisons per free; `locked` inherits it, and `lock_free`, which needs
/// the index, refuses all the same.
struct trusting : foreign_checked {
  static constexpr bool refuses_foreign = false;
};

/// The fault that a checked pool found. The pool prints `message()` and aborts the program.
enum class violation : unsigned char {
  double_free,       ///< a block was freed that is free already
  guard_overwritten, ///< somebody wrote behind the end of a block
  write_after_free,  ///< somebody wrote to a free block
  link_corrupted,    ///< the link in a free block does not decode to a block
  foreign_pointer,   ///< a pointer was freed that is not a block of the pool
};

} // namespace heapwise::inline v0_1

namespace heapwise::detail::inline v0_1 {

/// Prints one line to standard error without allocating, then aborts.
/// `block` is the address, `block_size` the pool's, or 0 if that is not known here.
[[noreturn]] void report_violation(violation what, const void* block,
                                   std::size_t block_size) noexcept;

/// A word for a free block, mixed with a key of the process and the block's address: a stray write
/// cannot choose what it decodes to, and whichever byte it hits, the high bits come out changed.
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

/// Links that are sealed. One word per block: the rest is poisoned and must stay so.
class encoded_links {
 public:
  static constexpr bool unrolled = false;
  /// Without `home` no link is checked.
  explicit encoded_links(std::uintptr_t key = 0, const chunks* home = nullptr) noexcept
      : key_{key}, home_{home} {}
  void store(void* block, void* next) const noexcept;
  /// Aborts if the word does not decode to nullptr or to a block of `home`.
  [[nodiscard]] void* load(const void* block) const noexcept;

 private:
  std::uintptr_t key_;
  const chunks* home_;
};

/// A key that differs from process to process.
[[nodiscard]] std::uintptr_t process_key() noexcept;

} // namespace heapwise::detail::inline v0_1

namespace heapwise::inline v0_1 {

/// Detects, prints one line and aborts: double frees (always, also of two threads at once), writes
/// behind a block's end, writes to a free block, corrupted links, frees of a pointer that is not a
/// block of the pool. Double frees, writes behind the end and foreign pointers are detected before
/// the destructor runs if an object is destroyed.
///
/// Cost: one guard word behind each block; filling a block when it is freed and reading it when it
/// is handed out again, O(block size); finding the chunk of the block that a link leads to when the
/// link is read, O(chunks).
class checked {
 public:
  static constexpr bool enabled = true;
  static constexpr bool refuses_foreign = true;
  static constexpr std::size_t guard_bytes = sizeof(std::uint64_t);
  using links = detail::encoded_links;

  /// Takes the key of the process; where a link leads is not checked.
  checked() noexcept : key_{detail::process_key()} {}
  /// Links are checked to lead to blocks of `home`.
  explicit checked(const detail::chunks& home) noexcept
      : key_{detail::process_key()}, home_{&home} {}

  /// Returns: how a pool reads and writes the link in a free block: encoded with the key.
  [[nodiscard]] links make_links() const noexcept { return links{key_, home_}; }
  /// A block is cut from fresh memory: it counts as free.
  void carved(void* block, std::size_t block_size) const noexcept;
  /// A free block is about to be handed out.
  void acquire(void* block, std::size_t block_size) const noexcept;
  /// The object in a block is about to be destroyed. From here on only `release` is right.
  void claim(void* block, std::size_t block_size) const noexcept;
  /// A block comes back from the user, claimed or not.
  void release(void* block, std::size_t block_size) const noexcept;
  /// A pointer was freed that is not a block of the pool. Does nothing for nullptr.
  void refuse(const void* address, std::size_t block_size) const noexcept;
  /// Returns: `word` as it is written into the free block: mixed with the key and the address.
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

} // namespace heapwise::inline v0_1
