#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"
#include "heapwise/gc.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::statistics;
using gc_test::survived;

namespace {

int destroyed = 0;

struct counted {
  explicit counted(int first) : number{first} {
    if (first < 0) throw std::invalid_argument{"below zero"};
  }
  ~counted() { ++destroyed; }
  int number;
  counted* next = nullptr;
};

struct alignas(256) wide {
  char bytes[300];
};

// The blocks that have room for 160 lines have a size that is not a multiple of 64.
struct alignas(64) line {
  double numbers[8];
};

struct lines {
  line all[160];
};

struct wide_thrower : wide {
  wide_thrower() { throw std::invalid_argument{"always"}; }
};

struct plain {
  plain* next;
};

} // namespace

TEST_CASE("a collected object is destroyed when nothing leads to it") {
  heapwise_gc_init(nullptr);
  static hidden object;
  static counted* volatile root;
  elsewhere([] {
    root = heapwise::make_collected<counted>(7);
    object = hidden{root};
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  elsewhere([] { heapwise_gc_run_finalizers(); });
  CHECK(destroyed == 0);
  elsewhere([] { CHECK(root->number == 7); });
  root = nullptr;
  heapwise_gc_collect();
  elsewhere([] { heapwise_gc_run_finalizers(); });
  CHECK(destroyed == 1);
}

TEST_CASE("an object with a trivial destructor gets no finalizer, alignment is kept") {
  const std::size_t before = statistics().finalizers;
  CHECK(heapwise::make_collected<plain>() != nullptr);
  auto* const aligned = heapwise::make_collected<wide>();
  CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0);
  CHECK(*heapwise::make_collected<double>(2.5) == 2.5);
  CHECK(statistics().finalizers == before);
}

TEST_CASE("new takes memory of the collector, and gives it back if the constructor throws") {
  auto* const object = new (heapwise::collected) counted{3};
  CHECK(heapwise_gc_base(object) == object);
  CHECK(object->next == nullptr);
  CHECK_THROWS_AS(new (heapwise::collected) counted{-1}, std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(heapwise::make_collected<counted>(-1)), std::invalid_argument);
  auto* const numbers = new (heapwise::collected_atomic) int[100];
  CHECK(heapwise_gc_usable_size(numbers) >= 400);
  auto* const aligned = new (heapwise::collected) wide;
  CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0);
}

TEST_CASE(
    "new keeps the alignment of its type, for arrays and for objects without addresses, too") {
  const auto is_aligned = [](const void* object) {
    return reinterpret_cast<std::uintptr_t>(object) % alignof(line) == 0 &&
           heapwise_gc_base(object) == object;
  };
  for (int each = 0; each < 6; ++each) {
    CHECK(is_aligned(new (heapwise::collected) lines));
    CHECK(is_aligned(new (heapwise::collected) line[160]));
    CHECK(is_aligned(new (heapwise::collected) line[16'000])); // a large block
    CHECK(is_aligned(new (heapwise::collected_atomic) lines));
    CHECK(is_aligned(new (heapwise::collected_atomic) line[160]));
  }
}

TEST_CASE("new gives the memory of aligned objects back if a constructor throws") {
  heapwise_gc_collect();
  const std::size_t before = statistics().freed_bytes;
  CHECK_THROWS_AS(new (heapwise::collected) wide_thrower, std::invalid_argument);
  CHECK_THROWS_AS(new (heapwise::collected) wide_thrower[2], std::invalid_argument);
  CHECK_THROWS_AS(new (heapwise::collected_atomic) wide_thrower, std::invalid_argument);
  CHECK_THROWS_AS(new (heapwise::collected_atomic) wide_thrower[2], std::invalid_argument);
  CHECK(statistics().freed_bytes >= before + 6 * sizeof(wide_thrower));
}

TEST_CASE("a container with the collected allocator is collected with its nodes") {
  using numbers = std::list<plain*, heapwise::collected_allocator<plain*>>;
  static numbers* volatile root;
  static hidden inside;
  elsewhere([] {
    root = new (heapwise::collected) numbers;
    for (int each = 0; each < 100; ++each) root->push_back(heapwise::make_collected<plain>());
    inside = hidden{root->back()};
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK(survived(inside));
  CHECK(root->size() == 100);
  root = nullptr;
  heapwise_gc_collect();
  CHECK_FALSE(survived(inside));
}

TEST_CASE("a container with the kept allocator leads to blocks from memory of malloc") {
  using numbers = std::vector<plain*, heapwise::kept_allocator<plain*>>;
  static hidden inside;
  static hidden container; // its address is in no place that is looked through
  elsewhere([] {
    auto* const block = new numbers;
    for (int each = 0; each < 1000; ++each) block->push_back(heapwise::make_collected<plain>());
    inside = hidden{block->back()};
    container = hidden{block};
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK(survived(inside));
  elsewhere([] { delete static_cast<numbers*>(container.shown()); });
  heapwise_gc_collect();
  CHECK_FALSE(survived(inside));
}

TEST_CASE("more than there is throws bad_alloc") {
  heapwise::collected_allocator<int> allocator;
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK_THROWS_AS(static_cast<void>(allocator.allocate(most / 8)), std::bad_alloc);
  CHECK_THROWS_AS(static_cast<void>(allocator.allocate(most)), std::bad_alloc);
  CHECK_THROWS_AS(static_cast<void>(heapwise::kept_allocator<int>{}.allocate(most / 8)),
                  std::bad_alloc);
  CHECK(allocator == heapwise::collected_allocator<char>{});
}

TEST_CASE("a weak pointer is null when its object is gone, copies refer to the same") {
  static heapwise::weak_pointer<counted> first;
  static heapwise::weak_pointer<counted> second;
  elsewhere([] {
    auto* const object = heapwise::make_collected<counted>(5);
    first.refer_to(object);
    second = first;
    const heapwise::weak_pointer<counted> third{second};
    CHECK(third.get() == object);
    gc_test::leave_windows();
  });
  elsewhere([] { CHECK(second.get()->number == 5); });
  heapwise_gc_collect();
  bool is_destroyed = false;
  elsewhere([&] { is_destroyed = first.get() == nullptr && second.get() == nullptr; });
  CHECK(is_destroyed);
  elsewhere([] { heapwise_gc_run_finalizers(); });
}
