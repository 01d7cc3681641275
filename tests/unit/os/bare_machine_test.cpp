#include "os/linux/bare/bare_machine.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "contract/child.hpp"
#include "os/linux/system_call.hpp"

namespace {

namespace os = heapwise::os;

TEST_CASE("an answer of the system is a value, an address or an error") {
  CHECK(os::system_answer{0}.succeeded());
  CHECK(os::system_answer{0}.error() == 0);
  CHECK(os::system_answer{-1}.error() == 1);
  CHECK(os::system_answer{-4095}.error() == 4095);
  CHECK(os::system_answer{-4095}.address() == nullptr);
  CHECK(os::system_answer{-4096}.succeeded()); // an address may be that high
  CHECK(os::system_answer{4096}.address() == reinterpret_cast<std::byte*>(4096));
  CHECK(os::system_call(SYS_getpid).value() == ::getpid());
}

TEST_CASE("six arguments reach the system, and errno stays") {
  errno = 42;
  constexpr long flags = MAP_PRIVATE | MAP_ANONYMOUS;
  const os::system_answer mapped =
      os::system_call(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
  REQUIRE(mapped.succeeded());
  *mapped.address() = std::byte{1};
  CHECK(os::system_call(SYS_munmap, mapped.address(), 4096).succeeded());
  CHECK(os::system_call(SYS_munmap, 1, 4096).error() == EINVAL);
  CHECK(errno == 42);
}

#if HEAPWISE_BARE_THREADS

#define EXPECT(condition) \
  if (!(condition)) std::_Exit(__LINE__ % 256)

constexpr std::uint32_t is_waiting = 2;

/// A stack, and a place for what the compiler and the C library keep at the thread pointer.
struct room {
  alignas(64) std::array<std::byte, 1 << 16> stack;
  alignas(64) std::array<std::byte, 1 << 13> around_the_pointer;
  std::atomic<pid_t> number;

  os::new_thread with(int (*body)(void*), void* argument) {
    std::byte* const pointer = around_the_pointer.data() + around_the_pointer.size() / 2;
#if defined(__x86_64__)
    reinterpret_cast<void**>(pointer)[0] = pointer;
    reinterpret_cast<void**>(pointer)[2] = pointer;
#endif
    return {.body = body,
            .argument = argument,
            .stack_end = stack.data() + stack.size(),
            .thread_pointer = pointer,
            .number = reinterpret_cast<pid_t*>(&number)};
  }
};
room first;
room second;

void wait_for(const std::atomic<std::uint32_t>& word, std::uint32_t wanted) {
  for (int i = 0; i < 20'000 && word.load() != wanted; ++i) ::usleep(1000);
  EXPECT(word.load() == wanted);
}

struct waiter {
  os::waiting_place place{};
  std::atomic<std::uint32_t> state{0};
  std::atomic<std::uint32_t> word{1};
  std::atomic<std::uint32_t> returns{0};
};
waiter the_waiter;

int wait_and_count(void* argument) {
  auto& self = *static_cast<waiter*>(argument);
  volatile std::uint32_t on_the_stack = 1;
  os::wait_at(self.place, reinterpret_cast<std::uint32_t&>(self.state), is_waiting,
              reinterpret_cast<std::uint32_t&>(self.word), 1);
  self.returns.fetch_add(on_the_stack);
  return 0;
}

int go_on(void* place) { os::go_on_at(*static_cast<const os::waiting_place*>(place)); }

TEST_CASE("a bare thread runs, and its number becomes 0 at its end") {
  const contract::ending how = contract::in_child([] {
    the_waiter.word = 0; // does not wait
    EXPECT(os::start_thread_at(first.with(wait_and_count, &the_waiter)).succeeded());
    wait_for(the_waiter.returns, 1);
    for (int i = 0; i < 20'000 && first.number.load() != 0; ++i) ::usleep(1000);
    EXPECT(first.number.load() == 0);
    EXPECT(the_waiter.state == is_waiting);
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("another thread goes on where one waits") {
  const contract::ending how = contract::in_child([] {
    EXPECT(os::start_thread_at(first.with(wait_and_count, &the_waiter)).succeeded());
    wait_for(the_waiter.state, is_waiting);
    ::usleep(20'000); // it sleeps, and touches nothing more
    EXPECT(the_waiter.returns == 0);
    EXPECT(os::start_thread_at(second.with(go_on, &the_waiter.place)).succeeded());
    wait_for(the_waiter.returns, 1);
  });
  CHECK(how.exit_code == 0);
}

#endif

} // namespace
