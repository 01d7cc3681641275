#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <linux/futex.h>

#include "heapwise/detail/config.hpp"
#include "os/linux/system_call.hpp"
#include "os/os.hpp"
#include "os/reports/caller_rule.hpp"
#include "os/reports/faults.hpp"
#include "os/reports/unwinding.hpp"

namespace heapwise::os {

namespace {

/// What _dl_find_object of glibc writes, as its manual says. Older versions lack the function.
struct found_object {
  unsigned long long flags;
  void* map_begin;
  void* map_end;
  void* link_map;
  const unsigned char* unwind_header; // the section .eh_frame_hdr
  unsigned long long reserved[8];
};
using find_object = int (*)(void* address, found_object* into);

/// Relaxed: it is written before there is a second thread, and points to code.
constinit std::atomic<find_object> the_find_object{nullptr};

/// Reads words of the stack, each page of which the system was asked about before.
class stack_reader {
 public:
  /// Returns: whether the word could be read.
  HEAPWISE_READS_ANYTHING bool read(std::uintptr_t address, std::uintptr_t& into) noexcept {
    if (address % sizeof into != 0) return false;
    if (const std::uintptr_t page = address & ~(page_bytes() - 1); page != readable_page_) {
      constexpr timespec at_once{};
      const int error = system_call(SYS_futex, address, FUTEX_WAIT_PRIVATE, 0, &at_once).error();
      if (error != EAGAIN && error != ETIMEDOUT) return false;
      readable_page_ = page;
    }
    into = *reinterpret_cast<const std::uintptr_t*>(address);
    return true;
  }

 private:
  std::uintptr_t readable_page_ = 1; // none
};

/// What is known of a frame: where the next instruction is, and two registers.
struct call_state {
  std::uintptr_t address = 0;
  std::uintptr_t stack = 0;
  std::uintptr_t frame = 0;
};

/// Effects: the state becomes that of the caller, by frame pointers. Returns: whether it could.
bool step_by_frame(call_state& state, stack_reader& stack) noexcept {
  constexpr std::uintptr_t most_of_a_frame = std::uintptr_t{1} << 20;
  constexpr std::uintptr_t word = sizeof(std::uintptr_t);
  if (state.frame < state.stack || state.frame - state.stack > most_of_a_frame) return false;
  call_state caller{.stack = state.frame + 2 * word};
  if (!stack.read(state.frame, caller.frame) || !stack.read(state.frame + word, caller.address)) {
    return false;
  }
  state = caller;
  return true;
}

#if defined(__x86_64__)

std::int32_t signed_word(const unsigned char* at) noexcept {
  std::int32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Returns: the rule for a call that returns to the address; `unknown` without unwind tables.
caller_rule rule_for(std::uintptr_t returns_to) noexcept {
  const find_object find = the_find_object.load(std::memory_order_relaxed);
  const std::uintptr_t address = returns_to - 1; // of the instruction that calls
  found_object object{};
  if (find == nullptr || find(reinterpret_cast<void*>(address), &object) != 0) return {};
  const unsigned char* const header = object.unwind_header;
  // Version 1; a pointer to the entries; their number; a table of pairs relative to the header.
  // Each is a word of 4 bytes. Linkers write no other form.
  constexpr unsigned char usual_form[] = {1, 0x1b, 0x03, 0x3b};
  if (header == nullptr || std::memcmp(header, usual_form, sizeof usual_form) != 0) return {};
  const auto count = static_cast<std::uint32_t>(signed_word(header + 8));
  const unsigned char* const table = header + 12;
  constexpr std::size_t pair = 8;
  const auto distance = static_cast<std::int64_t>(address) -
                        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(header));
  std::size_t first = 0;
  std::size_t behind = count;
  while (first < behind) { // the first function that begins behind the address
    const std::size_t middle = first + (behind - first) / 2;
    if (signed_word(table + middle * pair) <= distance) {
      first = middle + 1;
    } else {
      behind = middle;
    }
  }
  if (first == 0) return {};
  const unsigned char* const row = table + (first - 1) * pair;
  const unsigned char* const entry = header + signed_word(row + 4);
  const auto function = reinterpret_cast<std::uintptr_t>(header) +
                        static_cast<std::uintptr_t>(std::int64_t{signed_word(row)});
  // Its length, the distance to the common part, where it begins, and how long the function is.
  const auto bytes = static_cast<std::uint32_t>(signed_word(entry + 12));
  if (address - function >= bytes) return {};
  return read_caller_rule(entry, function, address);
}

/// Effects: the state becomes that of the caller. Returns: whether it could.
bool step(call_state& state, stack_reader& stack) noexcept {
  constexpr std::uintptr_t word = sizeof(std::uintptr_t);
  constexpr std::uintptr_t most_of_a_frame = std::uintptr_t{1} << 26;
  const caller_rule rule = rule_for(state.address);
  if (rule.from == caller_rule::base::none) return false;
  if (rule.from == caller_rule::base::unknown) return step_by_frame(state, stack);
  const bool by_word = rule.from == caller_rule::base::word_at_frame_pointer;
  const std::uintptr_t base =
      rule.from == caller_rule::base::stack_pointer ? state.stack : state.frame;
  std::uintptr_t end = base + static_cast<std::uintptr_t>(std::int64_t{rule.distance});
  if (by_word && (end < state.stack || !stack.read(end, end))) return false;
  if (end <= state.stack || end - state.stack > most_of_a_frame) return false;
  call_state caller{.stack = end, .frame = state.frame};
  if (by_word || rule.kept_frame_pointer != 0) {
    const auto offset = static_cast<std::uintptr_t>(std::int64_t{rule.kept_frame_pointer});
    if (!stack.read(by_word ? state.frame : end + offset, caller.frame)) return false;
  }
  if (!stack.read(end - word, caller.address)) return false;
  state = caller;
  return true;
}

#else

bool step(call_state& state, stack_reader& stack) noexcept { return step_by_frame(state, stack); }

#endif

/// Returns: the state of the calling function. Inlined: it is the one that asks.
HEAPWISE_ALWAYS_INLINE call_state own_state() noexcept {
  call_state state;
#if defined(__x86_64__)
  asm volatile(
      "lea 0f(%%rip), %0\n"
      "0:\n\t"
      "mov %%rsp, %1\n\t"
      "mov %%rbp, %2"
      : "=&r"(state.address), "=&r"(state.stack), "=&r"(state.frame));
  ++state.address; // as if it were one that a call returns to
#else
  state.frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  state.stack = state.frame;
#endif
  return state;
}

} // namespace

void prepare_unwinding() noexcept {
  auto* const find = reinterpret_cast<find_object>(loaded_function("_dl_find_object"));
  the_find_object.store(find, std::memory_order_relaxed);
}

HEAPWISE_NOINLINE std::size_t follow_calls(const void** into, std::size_t most) noexcept {
  stack_reader stack;
  call_state state = own_state();
  std::size_t count = 0;
  while (count < most && step(state, stack) && state.address != 0) {
    into[count++] = reinterpret_cast<const void*>(state.address);
  }
  return count;
}

} // namespace heapwise::os
