#include <heapwise/adapt/deleter.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

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
  CHECK(try_make_unique_in(numbers, 9) != nullptr);  // 8's block is free again
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

TEST_CASE("any policy, checked or not; shared ownership too") {
  typed_pool<std::string, heapwise::locked, heapwise::checked> texts{2};
  std::shared_ptr<std::string> shared = make_unique_in(texts, "kept");
  const std::shared_ptr<std::string> again = shared;
  shared.reset();
  CHECK(*again == "kept");
}

}  // namespace
