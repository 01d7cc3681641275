#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "gc/process.hpp"
#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::statistics;
using gc_test::survived;

namespace {

/// What finalizers were called with, in order: the first word of each block, and the argument.
struct call {
  std::uintptr_t number;
  void* argument;
};
std::array<call, 64> the_calls;
std::size_t call_count = 0;

struct node {
  std::uintptr_t number;
  node* next;
};

void note(void* block, void* argument) {
  the_calls[call_count++] = {static_cast<node*>(block)->number, argument};
}

node* make(std::uintptr_t number, node* next = nullptr) {
  auto* const block = static_cast<node*>(heapwise_gc_malloc(sizeof(node)));
  block->number = number;
  block->next = next;
  return block;
}

node* make_with_finalizer(std::uintptr_t number, node* next = nullptr, void* argument = nullptr) {
  node* const block = make(number, next);
  REQUIRE(heapwise_gc_set_finalizer(block, note, argument) == 0);
  return block;
}

/// Effects: collects and calls what is ready. Returns: the numbers of the blocks, in order.
std::vector<std::uintptr_t> numbers_after_a_collection() {
  heapwise_gc_collect();
  call_count = 0;
  elsewhere([] { heapwise_gc_run_finalizers(); });
  std::vector<std::uintptr_t> numbers;
  for (std::size_t each = 0; each < call_count; ++each) numbers.push_back(the_calls[each].number);
  return numbers;
}

using numbers = std::vector<std::uintptr_t>;

node* volatile the_static_root;

} // namespace

TEST_CASE("a finalizer is called once, when nothing leads to its block, and only when asked") {
  heapwise_gc_init(nullptr);
  elsewhere([] {
    the_static_root = make_with_finalizer(7, make(8), &the_calls);
    gc_test::leave_windows();
  });
  CHECK(numbers_after_a_collection().empty());
  the_static_root = nullptr;
  call_count = 0;
  heapwise_gc_collect();
  heapwise_gc_collect();
  CHECK(call_count == 0);
  CHECK(statistics().finalizers_ready == 1);
  CHECK(numbers_after_a_collection() == numbers{7});
  CHECK(the_calls[0].argument == &the_calls);
  CHECK(numbers_after_a_collection().empty());
  CHECK(statistics().finalizers == 0);
  CHECK(statistics().finalizers_ready == 0);
}

TEST_CASE("until the finalizer has returned, the block keeps what it leads to") {
  static hidden other;
  static bool was_there;
  elsewhere([] {
    auto* const first = make(1, make(2));
    other = hidden{first->next};
    const auto look = [](void* block, void*) {
      heapwise_gc_collect();
      was_there = static_cast<node*>(block)->next->number == 2;
    };
    REQUIRE(heapwise_gc_set_finalizer(first, look, nullptr) == 0);
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK(survived(other));
  elsewhere([] { CHECK(heapwise_gc_run_finalizers() == 1); });
  CHECK(was_there);
  heapwise_gc_collect();
  CHECK_FALSE(survived(other));
}

TEST_CASE("a block is finalized before those that it leads to") {
  elsewhere([] {
    make_with_finalizer(1, make(0, make_with_finalizer(2, make_with_finalizer(3))));
    gc_test::leave_windows();
  });
  CHECK(numbers_after_a_collection() == numbers{1});
  CHECK(numbers_after_a_collection() == numbers{2});
  CHECK(numbers_after_a_collection() == numbers{3});
}

TEST_CASE("a block that leads to itself is finalized, blocks in a circle are not") {
  elsewhere([] {
    node* const alone = make_with_finalizer(1);
    alone->next = alone;
    node* const first = make_with_finalizer(2);
    first->next = make_with_finalizer(3, first);
    node* const by_another = make_with_finalizer(4);
    by_another->next = make(5, by_another);
    gc_test::leave_windows();
  });
  CHECK(numbers_after_a_collection() == numbers{1});
  CHECK(numbers_after_a_collection().empty());
  CHECK(statistics().finalizers == 3);
}

TEST_CASE("a finalizer may let its block be reachable again, and be set again") {
  elsewhere([] {
    node* const new_node = make(9);
    const auto revive = [](void* block, void*) {
      note(block, nullptr);
      the_static_root = static_cast<node*>(block);
      REQUIRE(heapwise_gc_set_finalizer(block, note, nullptr) == 0);
    };
    REQUIRE(heapwise_gc_set_finalizer(new_node, revive, nullptr) == 0);
    gc_test::leave_windows();
  });
  CHECK(numbers_after_a_collection() == numbers{9});
  CHECK(numbers_after_a_collection().empty());
  the_static_root = nullptr;
  CHECK(numbers_after_a_collection() == numbers{9});
  CHECK(numbers_after_a_collection().empty());
}

TEST_CASE("the last finalizer that was set counts, and none is called of what was freed") {
  elsewhere([] {
    const auto never = [](void*, void*) { note(nullptr, nullptr); };
    node* const replaced = make(1);
    REQUIRE(heapwise_gc_set_finalizer(replaced, never, nullptr) == 0);
    REQUIRE(heapwise_gc_set_finalizer(replaced, note, nullptr) == 0);
    node* const without = make_with_finalizer(2);
    REQUIRE(heapwise_gc_set_finalizer(without, nullptr, nullptr) == 0);
    heapwise_gc_free(make_with_finalizer(3));
    gc_test::leave_windows();
  });
  CHECK(numbers_after_a_collection() == numbers{1});
}

TEST_CASE("a block that is freed while its finalizer is ready is not finalized") {
  static hidden block;
  elsewhere([] {
    block = hidden{make_with_finalizer(1)};
    make_with_finalizer(2);
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK(statistics().finalizers_ready == 2);
  elsewhere([] { heapwise_gc_free(block.shown()); });
  CHECK(statistics().finalizers_ready == 1);
  CHECK(numbers_after_a_collection() == numbers{2});
}

TEST_CASE("the argument of a finalizer is a root") {
  static hidden argument;
  elsewhere([] {
    node* const block = make(1);
    argument = hidden{block};
    the_static_root = make_with_finalizer(2, nullptr, block);
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK(survived(argument));
  the_static_root = nullptr;
  heapwise_gc_collect();
  CHECK(survived(argument));
  CHECK(numbers_after_a_collection() == numbers{2});
  the_calls = {};
  heapwise_gc_collect();
  CHECK_FALSE(survived(argument));
}

TEST_CASE("realloc takes the finalizer along, and what keeps a block") {
  static hidden kept;
  elsewhere([] {
    node* const block = make_with_finalizer(1);
    static_cast<void>(heapwise_gc_realloc(block, 10'000));
    node* const small = make(2);
    REQUIRE(heapwise_gc_keep(small) == 0);
    kept = hidden{heapwise_gc_realloc(small, 100'000)};
    gc_test::leave_windows();
    for (int each = 0; each < 10; ++each) heapwise_gc_malloc(10'000);
  });
  CHECK(numbers_after_a_collection() == numbers{1});
  CHECK(survived(kept));
  elsewhere([] {
    CHECK(static_cast<node*>(kept.shown())->number == 2);
    heapwise_gc_stop_keeping(kept.shown());
  });
  heapwise_gc_collect();
  CHECK_FALSE(survived(kept));
}

TEST_CASE("atomic and large blocks are finalized, too") {
  elsewhere([] {
    auto* const atomic = static_cast<node*>(heapwise_gc_malloc_atomic(sizeof(node)));
    atomic->number = 1;
    atomic->next = atomic;
    REQUIRE(heapwise_gc_set_finalizer(atomic, note, nullptr) == 0);
    auto* const large = static_cast<node*>(heapwise_gc_malloc(300'000));
    large->number = 2;
    large->next = make(3);
    REQUIRE(heapwise_gc_set_finalizer(large, note, nullptr) == 0);
    gc_test::leave_windows();
    for (int each = 0; each < 1000; ++each) heapwise_gc_malloc_atomic(sizeof(node));
  });
  numbers called = numbers_after_a_collection();
  std::sort(called.begin(), called.end());
  CHECK(called == numbers{1, 2});
}

TEST_CASE("a hundred thousand finalizers are called once each") {
  static std::vector<int> times(100'000);
  static const auto count = [](void* block, void*) { ++times[static_cast<node*>(block)->number]; };
  elsewhere([] {
    for (std::uintptr_t each = 0; each < times.size(); ++each) {
      REQUIRE(heapwise_gc_set_finalizer(make(each), count, nullptr) == 0);
      if (each % 1000 == 0) heapwise_gc_run_finalizers();
    }
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  elsewhere([] { heapwise_gc_run_finalizers(); });
  CHECK(std::count(times.begin(), times.end(), 1) >= 99'990); // a word by chance keeps a block
  CHECK(*std::max_element(times.begin(), times.end()) == 1);
}

TEST_CASE("the notice is given once for what a collection made ready, outside of locks") {
  static int notices;
  const auto notice = [](void* argument) {
    ++notices;
    CHECK(argument == &notices);
    static_cast<void>(heapwise_gc_malloc(100'000));
    heapwise_gc_run_finalizers();
  };
  notices = 0;
  heapwise_gc_on_finalizers_ready(notice, &notices);
  elsewhere([] {
    make_with_finalizer(1);
    make_with_finalizer(2);
    gc_test::leave_windows();
  });
  call_count = 0;
  elsewhere([] { // some allocation collects
    for (int each = 0; each < 5000 && notices == 0; ++each) heapwise_gc_malloc(4000);
  });
  CHECK(notices == 1);
  CHECK(call_count == 2);
  heapwise_gc_collect();
  CHECK(notices == 1);
  heapwise_gc_on_finalizers_ready(nullptr, nullptr);
}

TEST_CASE("the child of a fork calls finalizers that were ready") {
  elsewhere([] {
    make_with_finalizer(5);
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  call_count = 0;
  const int status = gc_test::status_of_process([] {
    const std::size_t called = heapwise_gc_run_finalizers();
    return called == 1 && the_calls[0].number == 5 ? 0 : 1;
  });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(numbers_after_a_collection() == numbers{5});
}

TEST_CASE("only a block gets a finalizer") {
  int on_stack = 0;
  CHECK(heapwise_gc_set_finalizer(&on_stack, note, nullptr) == EINVAL);
  auto* const block = static_cast<char*>(heapwise_gc_malloc(64));
  CHECK(heapwise_gc_set_finalizer(block + 16, note, nullptr) == EINVAL);
  CHECK(heapwise_gc_keep(&on_stack) == EINVAL);
}

TEST_CASE("finalizers without an order are called in circles, and for blocks that others lead to") {
  elsewhere([] {
    node* const first = make(1);
    node* const second = make(2, first);
    first->next = second;
    node* const third = make(3, make(4));
    second->next = third;
    for (node* const each : {first, second, third, third->next}) {
      REQUIRE(heapwise_gc_set_unordered_finalizer(each, note, nullptr) == 0);
    }
    first->next = second;
    third->next->next = first; // a circle of all four
    gc_test::leave_windows();
  });
  numbers calls = numbers_after_a_collection();
  std::sort(calls.begin(), calls.end());
  CHECK(calls == numbers{1, 2, 3, 4});
  CHECK(numbers_after_a_collection().empty());
}

TEST_CASE("an ordered finalizer waits for one without an order that leads to its block") {
  elsewhere([] {
    node* const first = make(1, make_with_finalizer(2));
    REQUIRE(heapwise_gc_set_unordered_finalizer(first, note, nullptr) == 0);
    gc_test::leave_windows();
  });
  CHECK(numbers_after_a_collection() == numbers{1});
  CHECK(numbers_after_a_collection() == numbers{2});
}

TEST_CASE("one without an order does not wait for an ordered one that leads to its block") {
  elsewhere([] {
    node* const second = make(2);
    REQUIRE(heapwise_gc_set_unordered_finalizer(second, note, nullptr) == 0);
    make_with_finalizer(1, second);
    gc_test::leave_windows();
  });
  numbers calls = numbers_after_a_collection();
  std::sort(calls.begin(), calls.end());
  CHECK(calls == numbers{1, 2});
}

TEST_CASE("a finalizer that is set again has the order of the last call") {
  elsewhere([] {
    node* const second = make(2);
    REQUIRE(heapwise_gc_set_unordered_finalizer(second, note, nullptr) == 0);
    REQUIRE(heapwise_gc_set_finalizer(second, note, nullptr) == 0);
    make_with_finalizer(1, second);
    gc_test::leave_windows();
  });
  CHECK(numbers_after_a_collection() == numbers{1});
  CHECK(numbers_after_a_collection() == numbers{2});
}

TEST_CASE("a finalizer without an order goes with a block that is moved, without an order") {
  elsewhere([] {
    node* second = make(2);
    REQUIRE(heapwise_gc_set_unordered_finalizer(second, note, nullptr) == 0);
    second = static_cast<node*>(heapwise_gc_realloc(second, 1000));
    make_with_finalizer(1, second);
    gc_test::leave_windows();
  });
  numbers calls = numbers_after_a_collection();
  std::sort(calls.begin(), calls.end());
  CHECK(calls == numbers{1, 2});
}

TEST_CASE(
    "a finalizer that is ready goes with a block that is moved, and not to one that is freed") {
  call_count = 0;
  const auto grow_and_free_next = [](void* block, void*) {
    note(block, nullptr);
    if (call_count > 1) return;
    heapwise_gc_free(heapwise_gc_realloc(static_cast<node*>(block)->next, 5000));
  };
  elsewhere([&] {
    node* const first = make(1);
    first->next = make(2, first);
    for (node* const each : {first, first->next}) {
      REQUIRE(heapwise_gc_set_unordered_finalizer(each, grow_and_free_next, nullptr) == 0);
    }
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  REQUIRE(statistics().finalizers_ready == 2);
  elsewhere([] { CHECK(heapwise_gc_run_finalizers() == 1); });
  CHECK(call_count == 1);
}

TEST_CASE("a block that cannot be moved without memory keeps its finalizer that is ready" *
          doctest::skip(HEAPWISE_EMULATED)) {
  const int status = gc_test::status_of_process([] {
    static hidden block;
    auto& attached = heapwise::gc::the_gc.attached;
    const auto room = [&] {
      const auto words = attached.of_blocks.words();
      return static_cast<std::size_t>(static_cast<const heapwise::gc::attachment*>(words.end) -
                                      static_cast<const heapwise::gc::attachment*>(words.begin));
    };
    // It grows when more than half of it is used.
    while (attached.of_blocks.size() == 0 || 2 * (attached.of_blocks.size() + 1) < room()) {
      if (heapwise_gc_keep(heapwise_gc_malloc(64)) != 0) return 1;
    }
    elsewhere([] {
      block = hidden{make_with_finalizer(1)};
      gc_test::leave_windows();
    });
    heapwise_gc_collect();
    if (attached.ready.size() != 1 || heapwise_gc_keep(block.shown()) != 0) return 2;
    // Now the next attachment needs memory, and the new block needs none.
    static_cast<void>(heapwise_gc_malloc(200));
    const rlimit nothing{0, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &nothing) != 0) return 3;
    if (heapwise_gc_realloc(block.shown(), 200) != nullptr) return 0; // there was memory
    return attached.ready.begin()->block == block.shown() ? 0 : 4;
  });
  CHECK(status == 0);
}
