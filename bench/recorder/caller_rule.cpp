#include "recorder/caller_rule.hpp"

#include <atomic>
#include <cstddef>

namespace heapwise::bench {

/// What libgcc has in unwind-dw2-fde.h, which is not installed.
struct table_bases {
  void* text;
  void* data;
  void* function; ///< where the function begins
};
extern "C" const unsigned char* _Unwind_Find_FDE(void* address, table_bases* bases);

namespace {

/// What was read, by return address. An entry is changed by one thread at a time, and read by all:
/// a rule counts only if its address was there before and after it was read.
struct known_rule {
  std::atomic<std::uint64_t> key{0};
  std::atomic<std::uint64_t> rule{0};
};
constexpr std::size_t known_bits = 12;
constinit known_rule known[std::size_t{1} << known_bits];
constinit std::atomic<bool> known_busy{false};
/// How often libraries were loaded. A part of each key, so that old entries are not found.
constinit std::atomic<std::uint64_t> loads{1};

[[nodiscard]] std::uint64_t pack(const caller_rule& rule) noexcept {
  return static_cast<std::uint64_t>(rule.from) |
         static_cast<std::uint64_t>(static_cast<std::uint16_t>(rule.kept_frame_pointer)) << 16 |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(rule.distance)) << 32;
}
[[nodiscard]] caller_rule unpack(std::uint64_t packed) noexcept {
  return {static_cast<caller_rule::base>(packed & 0xFFU), static_cast<std::int32_t>(packed >> 32),
          static_cast<std::int16_t>(packed >> 16 & 0xFFFFU)};
}

void remember(known_rule& entry, std::uint64_t key, const caller_rule& rule) noexcept {
  // Not waited for: a signal handler may have interrupted the thread that is in here.
  if (known_busy.exchange(true, std::memory_order_acquire)) return;
  entry.key.store(0, std::memory_order_relaxed);
  // release: with the acquire of caller_rule_of(). Who reads the new rule finds no old key then.
  entry.rule.store(pack(rule), std::memory_order_release);
  entry.key.store(key, std::memory_order_release);
  known_busy.store(false, std::memory_order_release);
}

} // namespace

caller_rule read_caller_rule(std::uint64_t address) noexcept {
  table_bases bases{};
  const unsigned char* const entry = _Unwind_Find_FDE(reinterpret_cast<void*>(address), &bases);
  // Here the unwinder of libgcc ends, too.
  if (entry == nullptr) return {caller_rule::base::none, 0, 0};
  return os::read_caller_rule(entry, reinterpret_cast<std::uintptr_t>(bases.function), address);
}

caller_rule caller_rule_of(std::uint64_t return_address) noexcept {
  constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
  constexpr int address_bits = 48;
  const std::uint64_t key = return_address | loads.load(std::memory_order_relaxed) << address_bits;
  known_rule& entry = known[return_address * golden >> (64 - known_bits)];
  // acquire: with the release of remember().
  if (entry.key.load(std::memory_order_acquire) == key) {
    const std::uint64_t packed = entry.rule.load(std::memory_order_acquire);
    if (entry.key.load(std::memory_order_relaxed) == key) return unpack(packed);
  }
  const caller_rule rule = read_caller_rule(return_address - 1);
  remember(entry, key, rule);
  return rule;
}

bool searches_tables(std::uint64_t site) noexcept {
  // All of it is one source file. Wherever it is linked in, its functions stay together.
  constexpr std::uint64_t most_bytes = 32768;
  const auto search = reinterpret_cast<std::uintptr_t>(&_Unwind_Find_FDE);
  return site - search + most_bytes < 2 * most_bytes;
}

void leave_caller_rules() noexcept { known_busy.store(false, std::memory_order_relaxed); }

void forget_caller_rules() noexcept { loads.fetch_add(1, std::memory_order_relaxed); }

} // namespace heapwise::bench
