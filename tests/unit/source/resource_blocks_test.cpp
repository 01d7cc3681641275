// Pools and arenas in the memory of a std::pmr::memory_resource.
#include <heapwise/source/resource_blocks.hpp>

#include <array>
#include <cstddef>
#include <memory_resource>
#include <new>

#include <doctest/doctest.h>
#include <heapwise/arena.hpp>
#include <heapwise/pool.hpp>

namespace {

using heapwise::growth;
using heapwise::pool;
using heapwise::resource_blocks;

/// Counts what is out.
class counted final : public std::pmr::memory_resource {
 public:
  std::size_t bytes_out = 0;

 private:
  void* do_allocate(std::size_t size_bytes, std::size_t alignment) override {
    void* const memory = std::pmr::new_delete_resource()->allocate(size_bytes, alignment);
    bytes_out += size_bytes;
    return memory;
  }
  void do_deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) override {
    bytes_out -= size_bytes;
    std::pmr::new_delete_resource()->deallocate(memory, size_bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

TEST_CASE("pools and arenas take their chunks from the resource and give them back") {
  counted upstream;
  resource_blocks source{&upstream};
  CHECK(source.upstream_resource() == &upstream);
  {
    pool<> blocks{
        {.block_size = 48, .block_count = 10, .alignment = 128, .growth = growth::geometric},
        source};
    for (int i = 0; i < 100; ++i) {
      CHECK(reinterpret_cast<std::uintptr_t>(blocks.allocate()) % 128 == 0);
    }
    CHECK(upstream.bytes_out == blocks.reserved_bytes());
    heapwise::arena some{source, 1000};
    static_cast<void>(some.allocate(5000));
    CHECK(upstream.bytes_out == blocks.reserved_bytes() + some.reserved_bytes());
  }
  CHECK(upstream.bytes_out == 0);
}

TEST_CASE("a resource that throws is a source that has no more") {
  std::array<std::byte, 4096> buffer;
  std::pmr::monotonic_buffer_resource little{buffer.data(), buffer.size(),
                                             std::pmr::null_memory_resource()};
  resource_blocks source{&little};
  pool<> blocks{{.block_size = 64, .block_count = 20, .growth = growth::geometric}, source};
  int count = 0;
  while (blocks.try_allocate() != nullptr) ++count;
  CHECK(count >= 20);
  CHECK(count < 64);
  CHECK_THROWS_AS(static_cast<void>(blocks.allocate()), std::bad_alloc);
}

} // namespace
