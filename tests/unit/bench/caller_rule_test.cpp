// Stacks by rules are those of libgcc's unwinder.
#include "recorder/caller_rule.hpp"

#include <alloca.h>
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "recorder/stack_trace.hpp"

using namespace heapwise::bench;

#if defined(__x86_64__)

// Functions whose unwind tables are known. Each label stands behind an instruction.
asm(R"(
  .text
heapwise_test_rules:
  .cfi_startproc
  nop
heapwise_test_begin:
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  nop
heapwise_test_pushed:
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  nop
heapwise_test_framed:
  .cfi_remember_state
  pop %rbp
  .cfi_def_cfa %rsp, 8
  .cfi_restore %rbp
  nop
heapwise_test_popped:
  ret
  .cfi_restore_state
  nop
heapwise_test_restored:
  .cfi_def_cfa_offset 4096
  nop
heapwise_test_far:
  .cfi_def_cfa %r10, 0
  nop
heapwise_test_other_register:
  .cfi_escape 0x0f, 0x03, 0x77, 0x08, 0x06
  nop
heapwise_test_expression:
  .cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06
  .cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00
  nop
heapwise_test_aligned:
  .cfi_def_cfa %rsp, 8
  .cfi_escape 0x10, 0x06, 0x02, 0x76, 0x78
  nop
heapwise_test_register_by_expression:
  .cfi_same_value %rbp
  .cfi_undefined %rip
  nop
heapwise_test_outermost:
  .cfi_endproc

// Its table says that the caller's frame is where the word at address 0 says.
heapwise_test_misled:
  .cfi_startproc
  sub $8, %rsp
  .cfi_escape 0x0f, 0x02, 0x30, 0x06
  call *%rdi
  add $8, %rsp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
)");
extern "C" {
extern const char heapwise_test_begin[], heapwise_test_pushed[], heapwise_test_framed[],
    heapwise_test_popped[], heapwise_test_restored[], heapwise_test_far[],
    heapwise_test_other_register[], heapwise_test_expression[],
    heapwise_test_register_by_expression[], heapwise_test_outermost[], heapwise_test_aligned[];
void heapwise_test_misled(void (*function)());
}

namespace {

std::uint64_t address_of(const char* label) { return reinterpret_cast<std::uintptr_t>(label); }

/// From the function that called it on, both ways find the same.
[[gnu::noinline]] void look() {
  const auto site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const stack_trace wanted = stack_by_unwinder(site);
  const stack_trace stack = stack_from(site);
  REQUIRE(wanted.count > 1);
  REQUIRE(stack.count == wanted.count);
  CHECK(std::equal(stack.frames, stack.frames + stack.count, wanted.frames));
}

template <int Depth>
[[gnu::noinline]] int deep(int argument) {
  volatile char room[Depth * 40 + 8] = {}; // the byte that is read is not the one that was written
  room[argument % 8] = 1;
  if constexpr (Depth == 0) {
    look();
  } else {
    argument += deep<Depth - 1>(argument + 1);
  }
  return argument + room[argument % 8];
}

[[gnu::noinline]] int with_room(std::size_t bytes) {
  auto* const room = static_cast<volatile char*>(alloca(bytes));
  room[0] = 1;
  look();
  return room[0];
}

[[gnu::noinline]] int aligned(int argument) {
  alignas(256) volatile char room[256];
  room[argument % 256] = 1;
  look();
  return room[argument % 256];
}

int compare_and_look(const void* one, const void* other) {
  look();
  return *static_cast<const int*>(one) - *static_cast<const int*>(other);
}

[[gnu::noinline]] int through_the_library() {
  std::array<int, 5> numbers{4, 2, 5, 1, 3};
  std::qsort(numbers.data(), numbers.size(), sizeof(int), compare_and_look);
  return numbers[0];
}

[[gnu::noinline]] std::size_t with_a_destructor(const std::string& text) {
  std::vector<std::string> parts{text, text + "1"};
  const std::function<void()> call = [&] {
    parts.push_back(text);
    look();
  };
  call();
  return parts.size();
}

void look_in_handler(int) { look(); }

/// A handler on the stack that it interrupts, or on one of its own.
[[gnu::noinline]] int through_a_signal(int flags) {
  static char own[64 * 1024];
  const stack_t place{own, 0, sizeof own};
  stack_t before{};
  sigaltstack(&place, &before);
  struct sigaction action{};
  action.sa_handler = look_in_handler;
  action.sa_flags = flags;
  struct sigaction previous{};
  sigaction(SIGUSR1, &action, &previous);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &previous, nullptr);
  return sigaltstack(&before, nullptr);
}

thread_local stack_trace of_misled;

[[gnu::noinline]] void look_misled() {
  of_misled = stack_from(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
}

void all_kinds() {
  for (int round = 0; round < 3; ++round) { // first read, then known
    deep<0>(round);
    deep<20>(round);
    deep<60>(round); // more frames than a stack holds
    with_room(static_cast<std::size_t>(round) * 1000 + 16);
    aligned(round);
    through_the_library();
    with_a_destructor("a text that is longer than what a string keeps in itself");
  }
}

} // namespace

TEST_CASE("a rule is what the unwind table says") {
  using base = caller_rule::base;
  CHECK(read_caller_rule(address_of(heapwise_test_begin) - 1) ==
        caller_rule{base::stack_pointer, 8, 0});
  CHECK(read_caller_rule(address_of(heapwise_test_pushed) - 1) ==
        caller_rule{base::stack_pointer, 16, -16});
  CHECK(read_caller_rule(address_of(heapwise_test_framed) - 1) ==
        caller_rule{base::frame_pointer, 16, -16});
  CHECK(read_caller_rule(address_of(heapwise_test_popped) - 1) ==
        caller_rule{base::stack_pointer, 8, 0});
  CHECK(read_caller_rule(address_of(heapwise_test_restored) - 1) ==
        caller_rule{base::frame_pointer, 16, -16});
  CHECK(read_caller_rule(address_of(heapwise_test_far) - 1) ==
        caller_rule{base::frame_pointer, 4096, -16});
  CHECK(read_caller_rule(address_of(heapwise_test_aligned) - 1) ==
        caller_rule{base::word_at_frame_pointer, -8, 0});
}

TEST_CASE("some tables have no rule, and a frame without a caller ends the stack") {
  CHECK(read_caller_rule(address_of(heapwise_test_other_register) - 1) == caller_rule{});
  CHECK(read_caller_rule(address_of(heapwise_test_expression) - 1) == caller_rule{});
  CHECK(read_caller_rule(address_of(heapwise_test_register_by_expression) - 1) == caller_rule{});
  CHECK(read_caller_rule(address_of(heapwise_test_outermost) - 1).from == caller_rule::base::none);
  CHECK(read_caller_rule(1).from == caller_rule::base::none); // in no library
}

TEST_CASE("a rule that is known is the one that was read, also after a library was loaded") {
  const std::uint64_t address = address_of(heapwise_test_pushed);
  for (int round = 0; round < 4; ++round) {
    if (round == 2) forget_caller_rules();
    CHECK(caller_rule_of(address) == read_caller_rule(address - 1));
  }
}

TEST_CASE("stacks by rules are those of the unwinder") {
  all_kinds();
  through_a_signal(0);
  through_a_signal(SA_ONSTACK);
}

TEST_CASE("a table that leads to an address that cannot be read ends the stack") {
  heapwise_test_misled(look_misled);
  REQUIRE(of_misled.count == 1);
  CHECK(of_misled.frames[0] > address_of(heapwise_test_outermost));
}

TEST_CASE("so they are in threads that read the rules at the same time") {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 20; ++round) {
        all_kinds();
        forget_caller_rules();
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

#endif
