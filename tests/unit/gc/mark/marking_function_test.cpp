// Blocks whose addresses only a function of the program can read.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::statistics;
using gc_test::survived;

namespace {

/// The link is the complement of an address, which no collector takes for one.
struct node {
  std::uintptr_t link; // 0: none
  std::uintptr_t number;

  [[nodiscard]] node* next() const { return reinterpret_cast<node*>(link == 0 ? 0 : ~link); }
  void lead_to(const void* block) { link = ~reinterpret_cast<std::uintptr_t>(block); }
};

node* volatile the_nodes;
const void* volatile the_watched_block;
std::atomic<std::size_t> calls_for_it{0};

void mark_nodes(const heapwise_gc_marking* marking, const void* block, std::size_t size,
                void* /*argument*/) {
  if (block == the_watched_block) ++calls_for_it;
  const auto* const nodes = static_cast<const node*>(block);
  for (std::size_t each = 0; each < size / sizeof(node); ++each) {
    if (nodes[each].link != 0) heapwise_gc_mark_address(marking, nodes[each].next());
  }
}

const heapwise_gc_layout* layout_of_nodes() {
  static const heapwise_gc_layout* const layout =
      heapwise_gc_make_marked_layout(mark_nodes, nullptr);
  return layout;
}

node* make_nodes(std::size_t count) {
  auto* const block =
      static_cast<node*>(heapwise_gc_malloc_typed(layout_of_nodes(), count * sizeof(node)));
  REQUIRE(block != nullptr);
  return block;
}

hidden by_link;
hidden by_number;

/// Effects: `count` nodes in one block; the one `at` leads to a block, and its number is the
/// address of another one.
void lead_from_nodes(std::size_t count, std::size_t at) {
  elsewhere([=] {
    node* const block = make_nodes(count);
    void* const linked = heapwise_gc_malloc(64);
    void* const numbered = heapwise_gc_malloc(64);
    block[at].lead_to(linked);
    block[at].number = reinterpret_cast<std::uintptr_t>(numbered);
    by_link = hidden{linked};
    by_number = hidden{numbered};
    the_nodes = block;
    gc_test::leave_windows();
    for (int each = 0; each < 1000; ++each) static_cast<void>(heapwise_gc_malloc(64));
  });
}

void start(const heapwise_gc_options& options = {}) { REQUIRE(heapwise_gc_init(&options) == 0); }

constexpr std::uintptr_t list_length = 200'000;

void make_list() {
  for (std::uintptr_t each = 0; each < list_length; ++each) {
    node* const block = make_nodes(1);
    block->number = each;
    if (the_nodes != nullptr) block->lead_to(the_nodes);
    the_nodes = block;
  }
}

/// Effects: garbage takes the place of all that the last collection has not marked.
void make_garbage() {
  for (std::uintptr_t each = 0; each < list_length; ++each) {
    static_cast<void>(heapwise_gc_malloc(24));
    make_nodes(1)->number = ~std::uintptr_t{0};
  }
}

/// Returns: how many nodes there are, with the numbers that they had.
std::uintptr_t length_of_list() {
  std::uintptr_t length = 0;
  for (const node* each = the_nodes; each != nullptr; each = each->next()) {
    if (each->number != list_length - 1 - length) return 0;
    ++length;
  }
  return length;
}

} // namespace

TEST_CASE("addresses that the marking function names are kept, and no others of the block") {
  start();
  for (const std::size_t count :
       std::initializer_list<std::size_t>{1, 3, 512, 2047, 2048, 40'000}) {
    CAPTURE(count);
    lead_from_nodes(count, count - 1);
    heapwise_gc_collect();
    CHECK(survived(by_link));
    CHECK_FALSE(survived(by_number));
  }
}

TEST_CASE("a list that only its marking function can follow stays, with several markers") {
  heapwise_gc_options options{};
  options.markers = 4;
  start(options);
  elsewhere(make_list);
  for (int round = 0; round < 4; ++round) {
    heapwise_gc_collect();
    elsewhere(make_garbage);
  }
  CHECK(length_of_list() == list_length);
}

TEST_CASE("blocks that a small mark stack cannot hold keep what their marking function names") {
  heapwise_gc_options options{};
  options.mark_stack_bytes = 4096;
  start(options);
  constexpr std::size_t width = 20'000;
  for (const std::size_t in_each : std::initializer_list<std::size_t>{width, 1}) {
    CAPTURE(in_each); // one large block, or many small ones below it
    elsewhere([=] {
      the_nodes = make_nodes(width);
      for (std::size_t each = 0; each < width; ++each) {
        node* const below = make_nodes(1);
        below->number = each;
        node* at = below;
        if (in_each == 1) {
          at = make_nodes(1);
          at->number = each;
          at->lead_to(below);
        }
        the_nodes[each].lead_to(at);
      }
    });
    heapwise_gc_collect();
    elsewhere(make_garbage);
    bool right = true;
    for (std::size_t each = 0; each < width; ++each) {
      const node* const at = the_nodes[each].next();
      right = right && at->number == each && (in_each != 1 || at->next()->number == each);
    }
    CHECK(right);
  }
  CHECK(statistics().mark_stack_overflows > 0);
}

TEST_CASE(
    "large blocks that a small mark stack cannot hold keep what their marking function names") {
  heapwise_gc_options options{};
  options.mark_stack_bytes = 4096;
  start(options);
  constexpr std::size_t width = 700; // addresses for which a page has no room
  constexpr std::size_t in_large = 2100;
  elsewhere([] {
    the_nodes = make_nodes(width);
    for (std::size_t each = 0; each < width; ++each) {
      node* const large = make_nodes(in_large);
      node* const below = make_nodes(1);
      below->number = each;
      large[in_large - 1].lead_to(below);
      the_nodes[each].lead_to(large);
    }
  });
  heapwise_gc_collect();
  elsewhere(make_garbage);
  bool right = true;
  for (std::size_t each = 0; each < width; ++each) {
    right = right && the_nodes[each].next()[in_large - 1].next()->number == each;
  }
  CHECK(right);
  CHECK(statistics().mark_stack_overflows > 0);
}

TEST_CASE("an address anywhere inside of a block counts, and one that is in no block does not") {
  start();
  lead_from_nodes(4, 1);
  the_nodes[1].link = ~(~the_nodes[1].link + 63);
  the_nodes[0].lead_to(&calls_for_it);
  the_nodes[2].link = 1;
  heapwise_gc_collect();
  CHECK(survived(by_link));
}

TEST_CASE("a block has its marking function after realloc, small and large") {
  start();
  for (const std::size_t count : std::initializer_list<std::size_t>{3, 300, 5000}) {
    CAPTURE(count);
    for (const std::size_t before : std::initializer_list<std::size_t>{4, 9000}) {
      lead_from_nodes(before, 2);
      elsewhere([=] {
        the_nodes = static_cast<node*>(heapwise_gc_realloc(the_nodes, count * sizeof(node)));
        gc_test::leave_windows();
      });
      heapwise_gc_collect();
      CHECK(survived(by_link));
      CHECK_FALSE(survived(by_number));
    }
  }
}

TEST_CASE("with the options debug and find_leaks, the marking function is called as well") {
  heapwise_gc_options options{};
  options.debug = 1;
  options.find_leaks = 1;
  start(options);
  static std::size_t reports = 0;
  heapwise_gc_on_leak([](void*, std::size_t, void*) { ++reports; }, nullptr);
  heapwise_gc_on_damage([](void*, std::size_t, void*) { ++reports; }, nullptr);
  for (const std::size_t count : std::initializer_list<std::size_t>{1, 5, 2046, 9000}) {
    CAPTURE(count);
    elsewhere([=] {
      the_nodes = make_nodes(count);
      node* const below = make_nodes(1);
      the_nodes[count - 1].lead_to(below);
      by_link = hidden{below};
    });
    CHECK(heapwise_gc_usable_size(the_nodes) == count * sizeof(node));
    heapwise_gc_collect();
    CHECK(survived(by_link));
    elsewhere([] {
      heapwise_gc_free(by_link.shown());
      heapwise_gc_free(the_nodes);
      the_nodes = nullptr;
    });
  }
  heapwise_gc_collect();
  CHECK(reports == 0);
  elsewhere([] { make_nodes(1)->lead_to(make_nodes(1)); });
  heapwise_gc_collect();
  CHECK(reports == 2);
}

TEST_CASE("the function gets the size that may be used, and its argument") {
  start();
  static std::size_t seen_size = 0;
  static void* seen_argument = nullptr;
  static int some = 0;
  const auto note = [](const heapwise_gc_marking*, const void*, std::size_t size, void* argument) {
    seen_size = size;
    seen_argument = argument;
  };
  const heapwise_gc_layout* const layout = heapwise_gc_make_marked_layout(note, &some);
  for (const std::size_t size :
       std::initializer_list<std::size_t>{1, 100, 32'760, 32'761, 500'000}) {
    CAPTURE(size);
    elsewhere([=] { the_nodes = static_cast<node*>(heapwise_gc_malloc_typed(layout, size)); });
    heapwise_gc_collect();
    CHECK(seen_size == heapwise_gc_usable_size(the_nodes));
    CHECK(seen_size >= size);
    CHECK(seen_argument == &some);
    for (std::size_t byte = 0; byte < seen_size; ++byte) {
      REQUIRE(reinterpret_cast<const char*>(the_nodes)[byte] == 0);
    }
  }
}

TEST_CASE("a finalizer finds what the marking function of its block names") {
  start();
  static std::uintptr_t number_below = 0;
  elsewhere([] {
    node* const block = make_nodes(1);
    node* const below = make_nodes(1);
    below->number = 77;
    block->lead_to(below);
    const auto read = [](void* its_block, void*) {
      number_below = static_cast<node*>(its_block)->next()->number;
    };
    REQUIRE(heapwise_gc_set_finalizer(block, read, nullptr) == 0);
    gc_test::leave_windows();
    for (int each = 0; each < 1000; ++each) make_nodes(1);
  });
  heapwise_gc_collect();
  elsewhere(make_garbage);
  elsewhere([] { CHECK(heapwise_gc_run_finalizers() == 1); });
  CHECK(number_below == 77);
}

TEST_CASE("a finalizer finds all of what a small mark stack cannot hold") {
  heapwise_gc_options options{};
  options.mark_stack_bytes = 4096;
  start(options);
  static constexpr std::size_t width = 2000;
  static std::size_t right = 0;
  elsewhere([] {
    node* const block = make_nodes(width);
    for (std::size_t each = 0; each < width; ++each) {
      node* const below = make_nodes(1);
      node* const last = make_nodes(1);
      last->number = each;
      below->lead_to(last);
      block[each].lead_to(below);
    }
    const auto read = [](void* its_block, void*) {
      const node* const nodes = static_cast<node*>(its_block);
      for (std::size_t each = 0; each < width; ++each) {
        right += nodes[each].next()->next()->number == each ? 1 : 0;
      }
    };
    REQUIRE(heapwise_gc_set_finalizer(block, read, nullptr) == 0);
  });
  heapwise_gc_collect();
  elsewhere(make_garbage);
  elsewhere([] { CHECK(heapwise_gc_run_finalizers() == 1); });
  CHECK(right == width);
}

TEST_CASE("finalizers wait for the blocks that name theirs, and not for themselves") {
  start();
  static std::uintptr_t order = 0;
  const auto note = [](void* its_block, void*) {
    order = 10 * order + static_cast<node*>(its_block)->number;
  };
  elsewhere([=] {
    node* const second = make_nodes(1);
    second->number = 2;
    second->lead_to(second); // itself
    REQUIRE(heapwise_gc_set_finalizer(second, note, nullptr) == 0);
    node* const first = make_nodes(1);
    first->number = 1;
    first->lead_to(second);
    REQUIRE(heapwise_gc_set_finalizer(first, note, nullptr) == 0);
    gc_test::leave_windows();
    for (int each = 0; each < 1000; ++each) make_nodes(1);
  });
  heapwise_gc_collect();
  elsewhere([] { heapwise_gc_run_finalizers(); });
  CHECK(order == 1);
  elsewhere(make_garbage);
  heapwise_gc_collect();
  elsewhere([] { heapwise_gc_run_finalizers(); });
  CHECK(order == 12);
}

TEST_CASE("the function is not called for a block that was freed, or that has no layout yet") {
  start();
  elsewhere([] {
    the_nodes = make_nodes(1);
    gc_test::leave_windows();
    the_watched_block = the_nodes;
    heapwise_gc_collect();
    CHECK(calls_for_it > 0);
    heapwise_gc_free(the_nodes);
  });
  calls_for_it = 0;
  heapwise_gc_collect();
  CHECK(calls_for_it == 0);
  elsewhere([] {
    the_nodes = make_nodes(1) + 1; // in the window, and not handed out
    the_watched_block = the_nodes;
    heapwise_gc_collect();
  });
  CHECK(calls_for_it == 0);
}

TEST_CASE("marking functions name blocks in a copy of the process" *
          doctest::skip(HEAPWISE_SKIP_STOPS || HEAPWISE_EMULATED)) {
  heapwise_gc_options options{};
  options.concurrent_bytes = 1;
  start(options);
  elsewhere(make_list);
  heapwise_gc_collect();
  const std::size_t before = statistics().concurrent_collections;
  for (int round = 0; round < 100 && statistics().concurrent_collections < before + 3; ++round) {
    elsewhere(make_garbage);
  }
  CHECK(statistics().concurrent_collections >= before + 3);
  CHECK(length_of_list() == list_length);
}

TEST_CASE("a layout needs a function") {
  errno = 0;
  CHECK(heapwise_gc_make_marked_layout(nullptr, nullptr) == nullptr);
  CHECK(errno == EINVAL);
}
