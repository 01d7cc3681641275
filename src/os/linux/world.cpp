#include "os/collector/world.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include "os/linux/processor_set.hpp"
#include "os/linux/system_call.hpp"
#include "os/os.hpp"

// A program that is linked statically need not have dladdr.
#pragma weak dladdr

extern "C" {
// There if the program was built with ThreadSanitizer.
[[gnu::weak]] void __tsan_init();
}

namespace heapwise::os {

namespace {

void (*when_thread_ends)() = nullptr;
pthread_key_t thread_end_key;

// How often the calling thread went through the destructors of its keys while it was watched.
constinit thread_local int rounds_at_end = 0;

/// Returns: the last round of destructors in which a thread may take locks. In the last one of all,
/// ThreadSanitizer takes its record of the thread away, and dies at a lock that comes later.
int last_round() noexcept {
  return PTHREAD_DESTRUCTOR_ITERATIONS - (__tsan_init != nullptr ? 1 : 0);
}

// The destructors of other keys come before and after this one, and may use the collector. So this
// one asks to be called again, until the system goes through them for the last time.
void handle_thread_end(void* /*value*/) {
  ++rounds_at_end;
  if (!watch_this_thread(true)) when_thread_ends();
}

struct static_walk {
  range_visitor* visit;
  void* argument;
};

/// Calls `visit` for what of [begin, end) is not in [hole_begin, hole_end).
void visit_around(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t hole_begin,
                  std::uintptr_t hole_end, const static_walk& walk) {
  const auto visit = [&](std::uintptr_t from, std::uintptr_t to) {
    if (from < to) {
      walk.visit({reinterpret_cast<void*>(from), reinterpret_cast<void*>(to)}, walk.argument);
    }
  };
  visit(begin, std::min(end, std::max(begin, hole_begin)));
  visit(std::max(begin, std::min(end, hole_end)), end);
}

int visit_object(dl_phdr_info* info, std::size_t /*size*/, void* opaque) {
  const auto& walk = *static_cast<const static_walk*>(opaque);
  std::uintptr_t constant_begin = 0;
  std::uintptr_t constant_end = 0;
  for (unsigned each = 0; each < info->dlpi_phnum; ++each) {
    const auto& header = info->dlpi_phdr[each];
    if (header.p_type != PT_GNU_RELRO) continue;
    constant_begin = info->dlpi_addr + header.p_vaddr;
    constant_end = (constant_begin + header.p_memsz) / page_bytes() * page_bytes();
  }
  for (unsigned each = 0; each < info->dlpi_phnum; ++each) {
    const auto& header = info->dlpi_phdr[each];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    visit_around(begin, begin + header.p_memsz, constant_begin, constant_end, walk);
  }
  return 0;
}

struct locked_call {
  void (*body)(void* argument);
  void* argument;
};

int call_once(dl_phdr_info* /*info*/, std::size_t /*size*/, void* opaque) {
  const auto& call = *static_cast<const locked_call*>(opaque);
  call.body(call.argument);
  return 1;
}

} // namespace

thread_id this_thread() noexcept {
  static_assert(sizeof(pthread_t) == sizeof(thread_id));
  return static_cast<thread_id>(::pthread_self());
}

thread_number this_thread_number() noexcept {
  return static_cast<thread_number>(system_call(SYS_gettid).value());
}

memory_range own_stack() noexcept {
  const int saved = errno;
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
    ::pthread_attr_getstack(&attributes, &lowest, &bytes);
    ::pthread_attr_destroy(&attributes);
  }
  errno = saved;
  if (bytes == 0) return {nullptr, nullptr};
  return {lowest, static_cast<std::byte*>(lowest) + bytes};
}

const void* signal_stack_end() noexcept {
  stack_t stack{};
  const bool on_it = system_call(SYS_sigaltstack, nullptr, &stack).succeeded() &&
                     (stack.ss_flags & SS_ONSTACK) != 0;
  return on_it ? static_cast<std::byte*>(stack.ss_sp) + stack.ss_size : nullptr;
}

namespace {

/// Pages that can be read. An access below a stack would let it grow, so the first question is
/// whether there is a page at all. It is asked for many pages at once.
class readable_pages {
 public:
  /// Requires: where a page begins.
  bool hold(std::uintptr_t page) noexcept {
    if (page - mapped_ >= mapped_bytes_) {
      mapped_bytes_ = most_at_once * page_bytes();
      mapped_ = page / mapped_bytes_ * mapped_bytes_;
      if (!are_mapped()) {
        mapped_ = page;
        mapped_bytes_ = page_bytes();
        if (!are_mapped()) {
          mapped_bytes_ = 0;
          return false;
        }
      }
    }
    // The system copies the signal set from the page, and only then finds that the request is not a
    // valid one.
    constexpr int no_request = -1;
    constexpr std::size_t set_bytes = 8;
    return system_call(SYS_rt_sigprocmask, no_request, page, nullptr, set_bytes).error() != EFAULT;
  }

 private:
  static constexpr std::size_t most_at_once = 256;

  [[nodiscard]] bool are_mapped() const noexcept {
    unsigned char resident[most_at_once];
    return system_call(SYS_mincore, mapped_, mapped_bytes_, resident).error() != ENOMEM;
  }

  std::uintptr_t mapped_ = 0;
  std::uintptr_t mapped_bytes_ = 0;
};

} // namespace

memory_range readable_tail(memory_range range) noexcept {
  readable_pages pages;
  const auto begin = reinterpret_cast<std::uintptr_t>(range.begin);
  auto from = reinterpret_cast<std::uintptr_t>(range.end);
  while (from > begin) {
    const std::uintptr_t page = (from - 1) / page_bytes() * page_bytes();
    if (!pages.hold(page)) break;
    from = std::max(page, begin);
  }
  return {reinterpret_cast<const void*>(from), range.end};
}

memory_range readable_head(memory_range range) noexcept {
  readable_pages pages;
  const auto end = reinterpret_cast<std::uintptr_t>(range.end);
  auto to = reinterpret_cast<std::uintptr_t>(range.begin);
  while (to < end) {
    const std::uintptr_t page = to / page_bytes() * page_bytes();
    if (!pages.hold(page)) break;
    to = std::min(page + page_bytes(), end);
  }
  return {range.begin, reinterpret_cast<const void*>(to)};
}

namespace {

// A frame of its own: that of the caller, with the registers, is above it as a whole.
[[gnu::noinline]] void call_below(void (*body)(void* argument, void* lowest), void* argument) {
  body(argument, __builtin_frame_address(0));
  asm volatile("" ::: "memory"); // not a tail call: the frame has to stay
}

} // namespace

[[gnu::noinline]] void with_registers(void (*body)(void* argument, void* lowest),
                                      void* argument) noexcept {
  __builtin_unwind_init(); // saves what the caller keeps in registers into this frame
  call_below(body, argument);
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void clear_unused_stack() noexcept {
  // The frames from an allocation to with_registers take less than half of it.
  constexpr std::size_t enough_bytes = 2048;
  std::byte unused[enough_bytes];
  std::memset(unused, 0, sizeof unused);
  asm volatile("" : : "r"(unused) : "memory"); // somebody may read it, as far as the compiler knows
}

bool on_thread_end(void (*action)()) noexcept {
  when_thread_ends = action;
  return ::pthread_key_create(&thread_end_key, handle_thread_end) == 0;
}

bool watch_this_thread(bool yes) noexcept {
  if (yes && rounds_at_end >= last_round()) return false;
  const int saved = errno;
  const bool done = ::pthread_setspecific(thread_end_key, yes ? &thread_end_key : nullptr) == 0;
  errno = saved;
  return done;
}

std::size_t thread_values(memory_range wanted, const void** into, std::size_t room) noexcept {
  static_assert(most_thread_values >= PTHREAD_KEYS_MAX);
  std::size_t count = 0;
  for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX && count < room; ++key) {
    const void* const value = ::pthread_getspecific(key);
    if (value >= wanted.begin && value < wanted.end) into[count++] = value;
  }
  return count;
}

// The lock of dl_iterate_phdr may be taken again by its holder.
void while_nothing_is_loaded(void (*body)(void* argument), void* argument) noexcept {
  locked_call call{body, argument};
  ::dl_iterate_phdr(call_once, &call);
}

void each_static_range(range_visitor* visit, void* argument) noexcept {
  static_walk walk{visit, argument};
  ::dl_iterate_phdr(visit_object, &walk);
}

std::uint64_t now_ns() noexcept {
  timespec now{};
  // The C library's function may be intercepted, and a thread that stands still may hold a lock
  // there.
  system_call(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void sleep(std::uint64_t duration_ns) noexcept {
  constexpr std::uint64_t second_ns = 1'000'000'000;
  const timespec duration{.tv_sec = static_cast<std::time_t>(duration_ns / second_ns),
                          .tv_nsec = static_cast<long>(duration_ns % second_ns)};
  system_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &duration, nullptr);
}

std::size_t processors() noexcept {
  constexpr long itself = 0;
  processor_set allowed;
  allowed.ask(itself);
  return std::max(allowed.count(), std::size_t{1});
}

code_place place_of(const void* code) noexcept {
  Dl_info info{};
  if (dladdr == nullptr || ::dladdr(code, &info) == 0) return {};
  if (info.dli_fname == nullptr || *info.dli_fname == '\0') return {};
  const auto offset =
      reinterpret_cast<std::uintptr_t>(code) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  return {info.dli_fname, reinterpret_cast<const void*>(offset)};
}

void abort() noexcept { std::abort(); }

} // namespace heapwise::os
