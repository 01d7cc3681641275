#include <heapwise/checking.hpp>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include <heapwise/detail/chunks.hpp>

#include "os/os.hpp"

namespace heapwise::inline v0_2 {
namespace {

constexpr unsigned char poison = 0xDB; // dead block
constexpr unsigned char slack = 0xC5;  // between the block's end and the guard word

std::size_t guard_offset(std::size_t block_size) noexcept {
  const std::size_t least = block_size < sizeof(void*) ? sizeof(void*) : block_size;
  return (least + sizeof(std::uint64_t) - 1) & ~(sizeof(std::uint64_t) - 1);
}

std::atomic_ref<std::uint64_t> guard_of(void* block, std::size_t block_size) noexcept {
  auto* const word = static_cast<std::byte*>(block) + guard_offset(block_size);
  return std::atomic_ref{*reinterpret_cast<std::uint64_t*>(word)};
}

/// What the guard word of a live block says; of a free block, its complement. Both depend on the
/// address, so a copied guard word is not a valid one.
std::uint64_t live_mark(std::uintptr_t key, const void* block) noexcept {
  return (reinterpret_cast<std::uintptr_t>(block) ^ key) * 0x9E37'79B9'7F4A'7C15u;
}

/// Changes the mark of a live block to that of one whose object is being destroyed.
constexpr std::uint64_t claimed = 0x5A5A'5A5A'5A5A'5A5Au;

/// The bytes of a free block that the link does not use.
std::size_t poisoned_bytes(std::size_t block_size) noexcept {
  return block_size > sizeof(void*) ? block_size - sizeof(void*) : 0;
}

bool all_bytes_are(const void* from, std::size_t bytes, unsigned char value) noexcept {
  const auto* byte = static_cast<const unsigned char*>(from);
  return bytes == 0 || (*byte == value && std::memcmp(byte, byte + 1, bytes - 1) == 0);
}

const char* message(violation what) noexcept {
  switch (what) {
    case violation::double_free:
      return "double free";
    case violation::guard_overwritten:
      return "write behind the end of a block";
    case violation::write_after_free:
      return "write to a free block";
    case violation::link_corrupted:
      return "corrupted link in a free block";
    case violation::foreign_pointer:
      return "free of a pointer that is not a block";
  }
  return "violation";
}

/// A line of text on the stack.
class line {
 public:
  line& operator<<(const char* text) noexcept {
    while (*text != '\0' && size_ < text_.size()) text_[size_++] = *text++;
    return *this;
  }
  line& number(std::uintptr_t value, unsigned base) noexcept {
    std::array<char, 24> digits{};
    std::size_t count = 0;
    do {
      digits[count++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (count > 0 && size_ < text_.size()) text_[size_++] = digits[--count];
    return *this;
  }
  void print() const noexcept { os::write_error(text_.data(), size_); }

 private:
  std::array<char, 200> text_{};
  std::size_t size_ = 0;
};

} // namespace

} // namespace heapwise::inline v0_2

namespace heapwise::detail::inline v0_2 {

void report_violation(violation what, const void* block, std::size_t block_size) noexcept {
  line text;
  const bool is_block = what != violation::foreign_pointer;
  text << "heapwise: pool: " << message(what) << (is_block ? ": block 0x" : ": address 0x");
  text.number(reinterpret_cast<std::uintptr_t>(block), 16);
  if (block_size != 0) {
    (text << (is_block ? " of " : ", in a pool of blocks of ")).number(block_size, 10) << " bytes";
  }
  text << "\n";
  text.print();
  std::abort();
}

std::uintptr_t process_key() noexcept {
  static const auto key = static_cast<std::uintptr_t>(os::random_word() | 1);
  return key;
}

void encoded_links::store(void* block, void* next) const noexcept {
  const std::uint64_t word =
      sealed(reinterpret_cast<std::uintptr_t>(next), key_, reinterpret_cast<std::uintptr_t>(block));
  std::memcpy(block, &word, sizeof word);
}

// No bit of an address is known beforehand: the upper ones may be a tag. So a word is believed if
// it leads to a block. A stray write changes the upper bits of what the word decodes to.
void* encoded_links::load(const void* block) const noexcept {
  std::uint64_t word;
  std::memcpy(&word, block, sizeof word);
  word = unsealed(word, key_, reinterpret_cast<std::uintptr_t>(block));
  auto* const next = reinterpret_cast<void*>(static_cast<std::uintptr_t>(word));
  if (next != nullptr && home_ != nullptr && home_->index_of(next) == chunks::no_index) {
    report_violation(violation::link_corrupted, block, 0);
  }
  return next;
}

} // namespace heapwise::detail::inline v0_2

namespace heapwise::inline v0_2 {

namespace {

/// Reports a guard word that is not `live`: the block is free already, or the word was overwritten.
[[noreturn]] HEAPWISE_COLD void report_guard(std::uint64_t guard, std::uint64_t live,
                                             const void* block, std::size_t block_size) noexcept {
  const bool freed = guard == ~live || guard == (live ^ claimed);
  detail::report_violation(freed ? violation::double_free : violation::guard_overwritten, block,
                           block_size);
}

void check_slack(const void* block, std::size_t block_size) noexcept {
  const auto* const end = static_cast<const std::byte*>(block) + block_size;
  if (!all_bytes_are(end, guard_offset(block_size) - block_size, slack)) {
    detail::report_violation(violation::guard_overwritten, block, block_size);
  }
}

} // namespace

void checked::carved(void* block, std::size_t block_size) const noexcept {
  auto* const bytes = static_cast<std::byte*>(block);
  if (const std::size_t count = poisoned_bytes(block_size); count != 0) {
    std::memset(bytes + sizeof(void*), poison, count);
  }
  guard_of(block, block_size).store(~live_mark(key_, block), std::memory_order_relaxed);
}

void checked::acquire(void* block, std::size_t block_size) const noexcept {
  auto* const bytes = static_cast<std::byte*>(block);
  // Acquire: pairs with the exchange in release.
  std::uint64_t seen = ~live_mark(key_, block);
  if (!guard_of(block, block_size)
           .compare_exchange_strong(seen, live_mark(key_, block), std::memory_order_acquire)) {
    detail::report_violation(violation::guard_overwritten, block, block_size);
  }
  if (!all_bytes_are(bytes + sizeof(void*), poisoned_bytes(block_size), poison)) {
    detail::report_violation(violation::write_after_free, block, block_size);
  }
  std::memset(bytes + block_size, slack, guard_offset(block_size) - block_size);
}

void checked::claim(void* block, std::size_t block_size) const noexcept {
  const std::uint64_t live = live_mark(key_, block);
  // One exchange decides between two threads that destroy the same object. Relaxed: it publishes
  // nothing, and the owner of a live block has seen what was written to it.
  std::uint64_t seen = live;
  if (!guard_of(block, block_size)
           .compare_exchange_strong(seen, live ^ claimed, std::memory_order_relaxed)) {
    report_guard(seen, live, block, block_size);
  }
  check_slack(block, block_size);
}

void checked::refuse(const void* address, std::size_t block_size) const noexcept {
  if (address == nullptr) return;
  detail::report_violation(violation::foreign_pointer, address, block_size);
}

void checked::release(void* block, std::size_t block_size) const noexcept {
  const std::uint64_t live = live_mark(key_, block);
  // One exchange decides between two threads that free the same block: the second sees "free".
  // Release: pairs with the acquire in `acquire`.
  const std::uint64_t seen = guard_of(block, block_size).exchange(~live, std::memory_order_acq_rel);
  if (seen != live && seen != (live ^ claimed)) [[unlikely]] {
    report_guard(seen, live, block, block_size);
  }
  check_slack(block, block_size);
  if (const std::size_t count = poisoned_bytes(block_size); count != 0) {
    std::memset(static_cast<std::byte*>(block) + sizeof(void*), poison, count);
  }
}

} // namespace heapwise::inline v0_2
