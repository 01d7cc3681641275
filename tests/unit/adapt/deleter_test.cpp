#include <heapwise/adapt/deleter.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/checking.hpp>
#include <heapwise/thread/locked.hpp>

namespace {

using heapwise::make_unique_in;
using heapwise::pool_ptr;
using heapwise::try_make_unique_in;
using heapwise::typed_pool;

static_assert(sizeof(pool_ptr<int>) == 2 * sizeof(void*));
static_assert(std::is_nothrow_default_constructible_v<pool_ptr<int>>);

TEST_CASE("an object lives as long as its pointer, then its block is free") {
  typed_pool<std::string> texts{1};
  {
    const auto text = make_unique_in(texts, std::size_t{1000}, 'x');
    CHECK(text->size() == 1000);
    CHECK(text.get_deleter().pool() == &texts);
    CHECK_FALSE(try_make_unique_in(texts));
    CHECK_THROWS_AS(static_cast<void>(make_unique_in(texts)), std::bad_alloc);
  }
  CHECK(try_make_unique_in(texts) != nullptr);
}

TEST_CASE("pointers move, are emptied and swapped") {
  typed_pool<int> numbers{2};
  pool_ptr<int> empty;
  CHECK(empty == nullptr);
  CHECK(empty.get_deleter().pool() == nullptr);
  empty = make_unique_in(numbers, 7);
  auto other = make_unique_in(numbers, 8);
  swap(empty, other);
  CHECK(*empty == 8);
  empty = std::move(other);
  CHECK(*empty == 7);
  CHECK(try_make_unique_in(numbers, 9) != nullptr); // 8's block is free again
}

struct throwing {
  throwing() { throw std::runtime_error{"throwing"}; }
};

TEST_CASE("a constructor that throws leaves no block out") {
  typed_pool<throwing> objects{1};
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS(static_cast<void>(make_unique_in(objects)), std::runtime_error);
    CHECK_THROWS_AS(static_cast<void>(try_make_unique_in(objects)), std::runtime_error);
  }
  CHECK(objects.blocks().try_allocate() != nullptr);
}

TEST_CASE("any policy, checked or not, and shared ownership too") {
  typed_pool<std::string, heapwise::pool<heapwise::locked, heapwise::checked>> texts{2};
  std::shared_ptr<std::string> shared = make_unique_in(texts, "kept");
  const std::shared_ptr<std::string> again = shared;
  shared.reset();
  CHECK(*again == "kept");
}

struct shape {
  int corners = 0;
};
struct named {
  std::string name = std::string(100, 'n'); // owns memory: the sanitizer would see the leak
};
/// Its second base does not begin where the object does, and none has a virtual destructor.
struct square : shape, named {
  explicit square(int& counter) : alive{&counter} { ++*alive; }
  ~square() { --*alive; }
  square(const square&) = delete;
  square& operator=(const square&) = delete;
  int* alive;
};

TEST_CASE("a pointer to a base destroys the whole object and frees its block") {
  int alive = 0;
  typed_pool<square, heapwise::pool<heapwise::unsynchronized, heapwise::checked>> squares{1};
  for (int round = 0; round < 3; ++round) {
    heapwise::base_ptr<named> owner = heapwise::to_base<named>(make_unique_in(squares, alive));
    CHECK(owner->name.size() == 100);
    CHECK(alive == 1);
    CHECK_FALSE(try_make_unique_in(squares, alive));
    const heapwise::base_ptr<named> target = std::move(owner);
    CHECK(owner == nullptr);
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
  CHECK(heapwise::to_base<named>(
            heapwise::pool_ptr<square, std::remove_reference_t<decltype(squares.blocks())>>{}) ==
        nullptr);
}

TEST_CASE("pointers to bases of objects of different pools lie in one container") {
  int alive = 0;
  typed_pool<square> squares{2};
  typed_pool<shape, heapwise::pool<heapwise::locked>> shapes{2};
  std::vector<heapwise::base_ptr<shape>> all;
  all.push_back(heapwise::to_base<shape>(make_unique_in(squares, alive)));
  all.push_back(heapwise::to_base<shape>(make_unique_in(shapes)));
  heapwise::base_ptr<square> one = heapwise::to_base<square>(make_unique_in(squares, alive));
  all.push_back(std::move(one)); // converts as pointers do
  CHECK(alive == 2);
  all.clear();
  CHECK(alive == 0);
  CHECK(squares.blocks().try_allocate() != nullptr);
  CHECK(shapes.blocks().try_allocate() != nullptr);
}

} // namespace
