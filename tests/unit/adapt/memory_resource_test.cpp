#include <heapwise/adapt/memory_resource.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/observe/instrumented.hpp>
#include <heapwise/pool.hpp>

namespace {

using counted = heapwise::instrumented<heapwise::pool<>>;
using resource = heapwise::pool_resource<counted>;

/// Counts what is out; hands out from new and delete.
class counting_resource final : public std::pmr::memory_resource {
 public:
  std::size_t out = 0;
  std::size_t last_alignment = 0;

 private:
  void* do_allocate(std::size_t size_bytes, std::size_t alignment) override {
    ++out;
    last_alignment = alignment;
    return std::pmr::new_delete_resource()->allocate(size_bytes, alignment);
  }
  void do_deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) override {
    --out;
    std::pmr::new_delete_resource()->deallocate(memory, size_bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

struct parts {
  counted pool{{.block_size = 48, .block_count = 100, .alignment = 16}};
  counting_resource upstream{};
  resource mine{pool, &upstream};
};

TEST_CASE("fits by size and alignment: from the pool, else from upstream") {
  struct row {
    std::size_t size_bytes, alignment;
    bool fits;
  };
  for (const row& each : {row{1, 1, true}, row{48, 16, true}, row{0, 1, true}, row{49, 1, false},
                          row{48, 32, false}, row{8, 4096, false}, row{10'000, 16, false}}) {
    CAPTURE(each.size_bytes);
    CAPTURE(each.alignment);
    parts at;
    CHECK(at.mine.uses_pool(each.size_bytes, each.alignment) == each.fits);
    void* const memory = at.mine.allocate(each.size_bytes, each.alignment);
    CHECK(at.pool.counts().live == (each.fits ? 1 : 0));
    CHECK(at.upstream.out == (each.fits ? 0 : 1));
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % each.alignment == 0);
    if (!each.fits) CHECK(at.upstream.last_alignment == each.alignment);
    at.mine.deallocate(memory, each.size_bytes, each.alignment);
    CHECK(at.pool.counts().live == 0);
    CHECK(at.upstream.out == 0);
  }
}

TEST_CASE("an exhausted pool: upstream serves, and gets its own memory back") {
  parts at;
  std::vector<void*> all;
  for (int i = 0; i < 130; ++i) all.push_back(at.mine.allocate(48, 8));
  CHECK(at.pool.counts().live == 100);
  CHECK(at.upstream.out == 30);
  for (void* const block : all) at.mine.deallocate(block, 48, 8);
  CHECK(at.pool.counts().live == 0);
  CHECK(at.pool.counts().refused_frees == 0);
  CHECK(at.upstream.out == 0);
}

TEST_CASE_TEMPLATE("so it is with every checking, and with a list", Checking, heapwise::trusting,
                   heapwise::foreign_checked, heapwise::checked) {
  heapwise::pool<heapwise::unsynchronized, Checking> pool{{.block_size = 64, .block_count = 2}};
  counting_resource upstream;
  heapwise::pool_resource<heapwise::pool<heapwise::unsynchronized, Checking>> mine{pool, &upstream};
  std::pmr::list<int> numbers{&mine};
  for (int i = 0; i < 10; ++i) numbers.push_back(i);
  CHECK(upstream.out == 8);
  numbers.clear();
  CHECK(upstream.out == 0);
  CHECK(pool.try_allocate() != nullptr);
}

TEST_CASE("a resource that does not spill: exhaustion is std::bad_alloc, not upstream's business") {
  counted pool{{.block_size = 48, .block_count = 1}};
  heapwise::pool_resource<counted, heapwise::when_exhausted::throws> mine{pool};
  void* const block = mine.allocate(48, 8);
  CHECK_THROWS_AS(static_cast<void>(mine.allocate(48, 8)), std::bad_alloc);
  mine.deallocate(block, 48, 8);
}

TEST_CASE("equal over the same pool and an equal upstream") {
  parts at;
  parts elsewhere;
  const resource same{at.pool, &at.upstream};
  const resource other_upstream{at.pool};
  CHECK(at.mine.is_equal(at.mine));
  CHECK(at.mine.is_equal(same));
  CHECK_FALSE(at.mine.is_equal(other_upstream));
  CHECK_FALSE(at.mine.is_equal(elsewhere.mine));
  CHECK_FALSE(at.mine.is_equal(resource{elsewhere.pool, &at.upstream}));
  CHECK_FALSE(at.mine.is_equal(*std::pmr::new_delete_resource()));
  CHECK(&at.mine.pool() == &at.pool);
  CHECK(at.mine.upstream_resource() == &at.upstream);
  CHECK(other_upstream.upstream_resource() == std::pmr::get_default_resource());
}

TEST_CASE("pmr containers: small pieces from the pool, large ones from upstream") {
  counted pool{{.block_size = 96, .block_count = 2000}};
  counting_resource upstream;
  resource mine{pool, &upstream};
  {
    std::pmr::map<int, std::pmr::string> texts{&mine};
    for (int i = 0; i < 300; ++i) texts[i] = std::string(i % 2 == 0 ? 40 : 4000, 'x');
    CHECK(pool.counts().live == 300 + 150); // nodes and short texts
    CHECK(upstream.out == 150);
    CHECK(texts[1].size() == 4000);
  }
  CHECK(pool.counts().live == 0);
  CHECK(upstream.out == 0);
}

} // namespace
