#include "os/world.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "os/os.hpp"

namespace heapwise::os {

namespace {

constexpr int stop_signal = SIGPWR;

void (*when_stopped)(void* lowest) = nullptr;
void (*when_thread_ends)() = nullptr;
pthread_key_t thread_end_key;

void stop_here(void* /*argument*/, void* lowest) { when_stopped(lowest); }

// What the thread had in registers was put onto its stack by the system; with a sanitizer, which
// calls handlers later by itself, some may still be in registers.
void handle_stop(int /*signal*/) {
  const int saved = errno;
  with_registers(stop_here, nullptr);
  errno = saved;
}

void handle_thread_end(void* /*value*/) { when_thread_ends(); }

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

void* stack_end() noexcept {
  const int saved = errno;
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
    ::pthread_attr_getstack(&attributes, &lowest, &bytes);
    ::pthread_attr_destroy(&attributes);
  }
  errno = saved;
  return bytes == 0 ? nullptr : static_cast<std::byte*>(lowest) + bytes;
}

bool on_interrupt(void (*stopped)(void* lowest)) noexcept {
  const int saved = errno;
  when_stopped = stopped;
  struct sigaction action{};
  action.sa_handler = handle_stop;
  action.sa_flags = SA_RESTART;
  ::sigfillset(&action.sa_mask); // no other handler may run while the world stands still
  const bool done = ::sigaction(stop_signal, &action, nullptr) == 0;
  errno = saved;
  return done;
}

bool interrupt(thread_id thread) noexcept {
  return ::pthread_kill(static_cast<pthread_t>(thread), stop_signal) == 0;
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

bool on_thread_end(void (*action)()) noexcept {
  when_thread_ends = action;
  return ::pthread_key_create(&thread_end_key, handle_thread_end) == 0;
}

void watch_this_thread(bool yes) noexcept {
  const int saved = errno;
  ::pthread_setspecific(thread_end_key, yes ? &thread_end_key : nullptr);
  errno = saved;
}

std::size_t thread_values(memory_range wanted, const void** into, std::size_t room) noexcept {
  static_assert(most_thread_values >= PTHREAD_KEYS_MAX);
  std::size_t found = 0;
  for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX && found < room; ++key) {
    const void* const value = ::pthread_getspecific(key);
    if (value >= wanted.begin && value < wanted.end) into[found++] = value;
  }
  return found;
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
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::size_t processors() noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return static_cast<std::size_t>(CPU_COUNT(&allowed));
}

void abort() noexcept { std::abort(); }

} // namespace heapwise::os
