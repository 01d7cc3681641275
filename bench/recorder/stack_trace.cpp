#include "recorder/stack_trace.hpp"

#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include <cstddef>
#include <cstring>

#include "recorder/caller_rule.hpp"
#include "recorder/own_filter.hpp"
#include "trace/kernel.hpp"

extern "C" [[gnu::weak]] void* __libc_stack_end; // of glibc: the first frame of the first thread

namespace heapwise::bench {

namespace {

struct wanted_stack {
  std::uint64_t site;
  stack_trace& found;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto& wanted = *static_cast<wanted_stack*>(argument);
  const auto address = static_cast<std::uint64_t>(_Unwind_GetIP(context));
  if (address == 0) return _URC_END_OF_STACK;
  // The frames of the recorder stand before the caller.
  if (wanted.found.count == 0 && address != wanted.site) return _URC_NO_REASON;
  wanted.found.frames[wanted.found.count++] = address;
  return wanted.found.count == stack_trace::most_frames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/// What the ABIs of x86-64 and AArch64 have where a frame pointer points to.
struct frame_record {
  std::uint64_t caller; ///< the frame pointer of the calling function
  std::uint64_t return_address;
};

/// The addresses of a thread's stack. Nothing is on it until they are known.
struct stack_bounds {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool asked_for = false;
};
__attribute__((tls_model("initial-exec"))) thread_local constinit stack_bounds bounds;

[[nodiscard]] std::uint64_t thread_pointer() noexcept {
#if defined(__x86_64__)
  std::uint64_t pointer = 0; // clang has no function for it there
  asm("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
#else
  return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
#endif
}

/// What lies between the stack pointer and it is the stack. 0 if it is not known.
///
/// Not by pthread_getattr_np(): it allocates while it holds a lock of the thread, and this may be
/// that allocation. glibc keeps what belongs to a thread at the end of its stack, except for the
/// first one.
[[nodiscard, gnu::noinline]] std::uint64_t find_stack_end() noexcept {
  if (!kernel::is_first_thread()) return thread_pointer();
  return &__libc_stack_end != nullptr ? reinterpret_cast<std::uintptr_t>(__libc_stack_end) : 0;
}

/// Finds the mapping of /proc/self/maps that holds an address.
class mapping_finder {
 public:
  explicit mapping_finder(std::uint64_t address) noexcept : address_{address} {}

  /// A byte of the file. Returns false if no more are needed.
  bool take(char byte) noexcept {
    if (part_ == part::rest) {
      if (byte == '\n') part_ = part::begin;
      return true;
    }
    if (byte != '-' && byte != ' ') {
      const auto digit = static_cast<unsigned>(byte <= '9' ? byte - '0' : byte - 'a' + 10);
      number_ = number_ << 4 | digit;
      return true;
    }
    const std::uint64_t number = number_;
    number_ = 0;
    if (part_ == part::begin) {
      begin_ = number;
      part_ = part::end;
      return true;
    }
    part_ = part::rest;
    if (begin_ <= address_ && address_ < number) {
      is_found_ = true;
      return false;
    }
    end_before_ = number;
    return true;
  }

  [[nodiscard]] bool is_found() const noexcept { return is_found_; }
  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
  /// Of the mapping before it: the stack of the first thread grows up to there.
  [[nodiscard]] std::uint64_t end_before() const noexcept { return end_before_; }

 private:
  enum class part : std::uint8_t { begin, end, rest };

  std::uint64_t address_;
  std::uint64_t number_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t end_before_ = 0;
  part part_ = part::begin;
  bool is_found_ = false;
};

[[gnu::noinline, gnu::cold]] void find_bounds() noexcept {
  bounds.asked_for = true;
  if (has_own_filter()) return; // which may end the process for a file that is opened
  const std::uint64_t end = find_stack_end();
  const int file = kernel::open("/proc/self/maps", O_RDONLY);
  if (file < 0) return;
  mapping_finder finder{end - 1};
  char piece[2048];
  bool goes_on = end != 0;
  while (goes_on) {
    const ssize_t got = kernel::read(file, piece, sizeof piece);
    if (got <= 0) break;
    for (ssize_t i = 0; goes_on && i < got; ++i) goes_on = finder.take(piece[i]);
  }
  kernel::close(file);
  if (!finder.is_found()) return;
  bounds.begin = kernel::is_first_thread() ? finder.end_before() : finder.begin();
  bounds.end = end;
}

/// Whether a whole record lies between `least`, which is in use, and the end of the stack. All of
/// that is mapped.
[[nodiscard]] bool is_on_stack(std::uint64_t frame, std::uint64_t least) noexcept {
  return frame >= least && frame % alignof(frame_record) == 0 && frame < bounds.end &&
         bounds.end - frame >= sizeof(frame_record);
}

} // namespace

stack_trace stack_by_frame_pointers(std::uint64_t site) noexcept {
  if (!bounds.asked_for) [[unlikely]]
    find_bounds();
  stack_trace trace;
  auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  // On another stack, which lies below, a broken chain could lead between the two.
  std::uint64_t least = frame >= bounds.begin ? frame : bounds.end;
  while (trace.count != stack_trace::most_frames && is_on_stack(frame, least)) {
    const frame_record& record = *reinterpret_cast<const frame_record*>(frame);
    if (record.return_address == 0) break;
    // The frames of the recorder stand before the caller.
    if (trace.count != 0 || record.return_address == site) {
      trace.frames[trace.count++] = record.return_address;
    }
    // Frames that follow lie higher, so the search ends.
    least = frame + sizeof(frame_record);
    frame = record.caller;
  }
  if (trace.count == 0) trace.frames[trace.count++] = site;
  return trace;
}

namespace {

[[nodiscard]] stack_trace only(std::uint64_t site) noexcept {
  stack_trace trace;
  trace.count = 1;
  trace.frames[0] = site;
  return trace;
}

} // namespace

stack_trace stack_by_unwinder(std::uint64_t site) noexcept {
  stack_trace trace;
  wanted_stack wanted{site, trace};
  _Unwind_Backtrace(add_frame, &wanted);
  return trace;
}

#if defined(__x86_64__)
namespace {

constexpr std::uint64_t word = sizeof(std::uint64_t);
constexpr std::uint64_t page = 4096;

/// The thread's own stack, as far as it is known: the end, and the pages before it that were read.
/// /proc/self/maps has the begin, but to read it takes longer than to make a thread.
class known_stack {
 public:
  /// 0 if it is not known.
  [[nodiscard]] std::uint64_t end() noexcept {
    if (end_ == 0) {
      end_ = find_stack_end();
      low_ = (end_ - 1) & ~(page - 1);
    }
    return end_;
  }

  /// Whether the address is of this stack. Under a filter of the program's own, by its distance
  /// from the end: the kernel cannot be asked, and a coroutine of a thread has a stack somewhere
  /// below.
  [[nodiscard]] bool holds(std::uint64_t address) noexcept {
    if (address >= end()) return false;
    if (address >= low_) return true;
    if (has_own_filter()) return end_ - address <= (is_first() ? most_pages : usual_pages) * page;
    return address >= bottom_ && low_ - address <= most_pages * page && extend(address);
  }

 private:
  static constexpr std::uint64_t most_pages = 2048; ///< of most stacks
  static constexpr std::uint64_t usual_pages = 64;  ///< few programs give a thread fewer

  /// Of the first thread: the kernel maps nothing else near it.
  [[nodiscard]] bool is_first() const noexcept {
    return &__libc_stack_end != nullptr &&
           end_ == reinterpret_cast<std::uintptr_t>(__libc_stack_end);
  }

  /// Below a stack is a page that cannot be read.
  [[gnu::noinline, gnu::cold]] bool extend(std::uint64_t address) noexcept {
    while (low_ > address) {
      if (!kernel::is_readable(low_ - page)) {
        bottom_ = low_;
        return false;
      }
      low_ -= page;
    }
    return true;
  }

  std::uint64_t end_ = 0;
  std::uint64_t low_ = 0;
  std::uint64_t bottom_ = 0;
};
__attribute__((tls_model("initial-exec"))) thread_local constinit known_stack own_stack;

/// The stack of the thread. What lies between the stack pointer and its end is mapped.
class own_words {
 public:
  explicit own_words(std::uint64_t end) noexcept : end_{end} {}

  bool read(std::uint64_t address, std::uint64_t& into) noexcept {
    if (address > end_ - word) return false;
    into = *reinterpret_cast<const std::uint64_t*>(address);
    return true;
  }

 private:
  std::uint64_t end_;
};

/// Another stack, of which the end is not known: the kernel is asked once for each page.
class checked_words {
 public:
  explicit checked_words(std::uint64_t in_use) noexcept : end_{(in_use | (page - 1)) + 1} {}

  bool read(std::uint64_t address, std::uint64_t& into) noexcept {
    while (address > end_ - word) {
      if (asked_++ == most_asked || !kernel::is_readable(end_)) return false;
      end_ += page;
    }
    into = *reinterpret_cast<const std::uint64_t*>(address);
    return true;
  }

 private:
  static constexpr unsigned most_asked = 64;

  std::uint64_t end_;
  unsigned asked_ = 0;
};

/// Why a search for callers has ended.
enum class walk_end : std::uint8_t {
  whole,   ///< the last frame has no caller, or there is no room for more
  handler, ///< of a signal, which returns to the kernel
  unknown, ///< a frame has no rule
  broken,  ///< what was on the stack cannot be a frame
};

struct registers {
  std::uint64_t address;
  std::uint64_t stack_pointer;
  std::uint64_t frame_pointer;
};

/// Whether a handler of a signal returns to this address, by which the kernel goes on with what it
/// interrupted. Requires: unwind tables name the address.
bool is_end_of_handler(std::uint64_t address) noexcept {
  constexpr unsigned char rt_sigreturn[] = {0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05};
  return std::memcmp(reinterpret_cast<const void*>(address), rt_sigreturn, sizeof rt_sigreturn) ==
         0;
}

/// Goes to the caller. Returns: false if the stack cannot be one of these rules; then `at` is of no
/// use. Nothing is read below the stack pointer, and nothing but by `words`.
template <class Words>
bool go_up(registers& at, const caller_rule& rule, Words& words) noexcept {
  using base = caller_rule::base;
  const std::uint64_t low = at.stack_pointer;
  const auto distance = static_cast<std::uint64_t>(std::int64_t{rule.distance});
  const auto read = [&](std::uint64_t from, std::uint64_t& into) {
    return from >= low && from % word == 0 && words.read(from, into);
  };
  if (rule.from == base::word_at_frame_pointer) {
    std::uint64_t end = 0;
    if (!read(at.frame_pointer + distance, end) || end <= low) return false;
    at.stack_pointer = end;
    return read(end - word, at.address) && read(at.frame_pointer, at.frame_pointer);
  }
  const std::uint64_t end =
      (rule.from == base::stack_pointer ? at.stack_pointer : at.frame_pointer) + distance;
  // The higher one first: what it needs is then known for both.
  if (end <= low || !read(end - word, at.address)) return false;
  at.stack_pointer = end;
  const auto kept = static_cast<std::uint64_t>(std::int64_t{rule.kept_frame_pointer});
  return kept == 0 || read(end + kept, at.frame_pointer);
}

/// From frame to frame, by rules. At the end `at` is where that was.
template <class Words>
walk_end walk(registers& at, caller_rule rule, Words& words, std::uint64_t site,
              stack_trace& trace) noexcept {
  while (rule.from != caller_rule::base::none && trace.count != stack_trace::most_frames) {
    if (rule.from == caller_rule::base::unknown) {
      return is_end_of_handler(at.address) ? walk_end::handler : walk_end::unknown;
    }
    if (!go_up(at, rule, words)) return walk_end::broken;
    if (at.address == 0) break;
    // The frames of the recorder stand before the caller.
    if (trace.count != 0 || at.address == site) trace.frames[trace.count++] = at.address;
    rule = caller_rule_of(at.address);
  }
  return walk_end::whole;
}

/// What a signal interrupted: the kernel has put its registers where the stack pointer stands when
/// the handler has returned (ucontext_t). Returns: false if they cannot be read.
template <class Words>
bool go_to_interrupted(registers& at, Words& words) noexcept {
  const std::uint64_t kept = at.stack_pointer + offsetof(ucontext_t, uc_mcontext.gregs);
  const std::uint64_t stack_pointer = kept + REG_RSP * word;
  return kept % word == 0 && words.read(kept + REG_RIP * word, at.address) &&
         words.read(stack_pointer, at.stack_pointer) &&
         words.read(kept + REG_RBP * word, at.frame_pointer);
}

[[gnu::always_inline]] inline registers registers_here() noexcept {
  registers here{};
  asm volatile(
      "lea 0f(%%rip), %0\n"
      "0:\n\t"
      "mov %%rsp, %1\n\t"
      "mov %%rbp, %2"
      : "=&r"(here.address), "=&r"(here.stack_pointer), "=&r"(here.frame_pointer));
  return here;
}

/// Returns: whether `at` is now what a signal interrupted, which is not in `trace` yet.
template <class Words>
bool walk_to_signal(registers& at, Words words, std::uint64_t site, stack_trace& trace) noexcept {
  // It need not be a call, behind which another function may begin.
  const caller_rule rule = caller_rule_of(at.address + 1);
  return walk(at, rule, words, site, trace) == walk_end::handler && trace.count != 0 &&
         trace.count != stack_trace::most_frames && go_to_interrupted(at, words);
}

/// On the thread's own stack, or on that of a coroutine or of a signal. Those who make one may
/// leave any word where its first function would return to.
bool walk_one_stack(registers& at, std::uint64_t site, stack_trace& trace) noexcept {
  if (own_stack.holds(at.stack_pointer)) {
    return walk_to_signal(at, own_words{own_stack.end()}, site, trace);
  }
  // The kernel may end a process that asks it.
  return !has_own_filter() && walk_to_signal(at, checked_words{at.stack_pointer}, site, trace);
}

} // namespace

[[gnu::noinline]] stack_trace stack_from(std::uint64_t site) noexcept {
  if (searches_tables(site)) [[unlikely]]
    return only(site);
  stack_trace trace;
  registers at = registers_here();
  while (walk_one_stack(at, site, trace)) {
    trace.frames[trace.count++] = at.address;
  }
  if (trace.count == 0) trace.frames[trace.count++] = site;
  return trace;
}

#else

namespace {

/// What the unwinder may need: its own frames, and those of the loader, which resolves the names of
/// the unwinder at its first call and saves all registers for that, AVX-512 included.
constexpr std::uint64_t unwinder_bytes = 8192;

/// Whether this is a signal handler on a stack of its own in which the unwinder has no room. A
/// stack of SIGSTKSZ bytes is one, as the frame of the signal takes up to half of it.
[[nodiscard]] bool is_short_of_stack() noexcept {
  stack_t own{};
  if (sigaltstack(nullptr, &own) != 0 || (own.ss_flags & SS_ONSTACK) == 0) return false;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here - reinterpret_cast<std::uintptr_t>(own.ss_sp) < unwinder_bytes;
}

} // namespace

stack_trace stack_from(std::uint64_t site) noexcept {
  return is_short_of_stack() || searches_tables(site) ? only(site) : stack_by_unwinder(site);
}
#endif

} // namespace heapwise::bench
