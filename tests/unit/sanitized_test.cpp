// What the address sanitizer sees of pools and arenas. This source is compiled for it even where
// the library is not: a program that is looked at may well link a library that was built without.
#include <heapwise/sanitized.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/heapwise.hpp>

#include "contract/child.hpp"

#if defined(HEAPWISE_SANITIZES_ADDRESSES)
/// Many reports: without the names of functions, which take long to find.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "symbolize=0"; }
#endif

namespace {

using contract::ending;
using contract::in_child;
using heapwise::growth;
using heapwise::pool;

static_assert(heapwise::checking_policy<heapwise::sanitized>);

#if defined(HEAPWISE_SANITIZES_ADDRESSES)

static_assert(std::is_same_v<pool<>::checking, heapwise::sanitized>);

template <class Body>
void check_reported(const Body& body) {
  const ending how = in_child(body);
  CHECK(how.error.find("ERROR: AddressSanitizer: ") != std::string::npos);
}

template <class Body>
void check_benign(const Body& body) {
  const ending how = in_child(body);
  CHECK(how.exit_code == 0);
  CHECK(how.error.empty());
}

/// Reads a byte as a program would.
void read(const void* block, std::size_t offset) {
  static_cast<void>(static_cast<const volatile char*>(block)[offset]);
}

#define POLICIES \
  heapwise::unsynchronized, heapwise::locked, heapwise::lock_free, heapwise::thread_cached

TEST_CASE_TEMPLATE("reads and writes of free blocks are reported", Policy, POLICIES) {
  pool<Policy> blocks{{.block_size = 61, .block_count = 100, .growth = growth::geometric}};
  auto* const block = static_cast<char*>(blocks.allocate());
  auto* const other = static_cast<char*>(blocks.allocate());
  check_benign([&] {
    std::memset(block, 1, 61);
    read(block, 60);
    blocks.deallocate(block);
    blocks.deallocate(other);
    for (int i = 0; i < 500; ++i) std::memset(blocks.allocate(), 2, 61);
  });
  for (const std::size_t offset : {std::size_t{8}, std::size_t{60}}) {
    check_reported([&] {
      blocks.deallocate(block);
      read(block, offset);
    });
    check_reported([&] { // not the one that was freed last
      blocks.deallocate(block);
      blocks.deallocate(other);
      block[offset] = 1;
    });
  }
  check_reported([&] { read(block, 61); });      // behind the end
  check_reported([&] { read(other, 10 * 64); }); // never handed out
  check_reported([&] {                           // nor in a later chunk
    void* last = nullptr;
    for (int i = 0; i < 150; ++i) last = blocks.allocate();
    read(last, 20 * 64);
  });
  check_reported([&] {
    blocks.reset();
    read(block, 0);
  });
}

TEST_CASE_TEMPLATE("double frees are reported, also before a destructor runs", Policy, POLICIES) {
  pool<Policy> blocks{{.block_size = 32, .block_count = 100}};
  void* const block = blocks.allocate();
  void* const other = blocks.allocate();
  check_reported([&] {
    blocks.deallocate(block);
    blocks.deallocate(other);
    blocks.deallocate(block);
  });
  heapwise::typed_pool<std::string, pool<Policy>> texts{8};
  std::string* const text = texts.construct("a string that does not fit into the object itself");
  check_reported([&] {
    texts.destroy(text);
    texts.destroy(text);
  });
  CHECK(texts.destroy(text));
}

TEST_CASE_TEMPLATE("memory that goes back to the source may be touched again", Policy, POLICIES) {
  alignas(64) static std::array<std::byte, 200'000> buffer;
  heapwise::static_blocks source{buffer.data(), buffer.size()};
  {
    pool<Policy> blocks{{.block_size = 64, .block_count = 20, .growth = growth::geometric}, source};
    for (int i = 0; i < 100; ++i) blocks.deallocate(blocks.allocate());
    for (int i = 0; i < 100; ++i) static_cast<void>(blocks.allocate());
  }
  check_benign([&] { buffer.fill(std::byte{1}); });
}

TEST_CASE("arenas: what is not handed out is hidden") {
  alignas(64) static std::array<std::byte, 100'000> buffer;
  heapwise::static_blocks source{buffer.data(), buffer.size()};
  {
    heapwise::arena some{source, 1000};
    auto* const text = static_cast<char*>(some.allocate(13));
    check_benign([&] {
      std::memset(text, 1, 13);
      for (std::size_t i = 1; i < 1000; ++i) std::memset(some.allocate(i % 40), 2, i % 40);
      some.reset();
      for (std::size_t i = 1; i < 1000; ++i) std::memset(some.allocate(i % 40), 3, i % 40);
    });
    check_reported([&] { read(text, 13); });
    check_reported([&] { read(text, 500); });
    check_reported([&] {
      some.reset();
      read(text, 0);
    });
    check_reported([&] { // in a chunk that is not the first
      void* const other = some.allocate(2000);
      some.reset();
      read(other, 100);
    });
    static_cast<void>(some.allocate(2000));
  }
  check_benign([&] { buffer.fill(std::byte{1}); });
}

#else

static_assert(std::is_same_v<pool<>::checking, heapwise::foreign_checked>);

TEST_CASE("a program without the sanitizer hides nothing, and works") {
  pool<heapwise::unsynchronized, heapwise::sanitized> blocks{{.block_size = 8, .block_count = 9}};
  std::vector<void*> all;
  while (void* const block = blocks.try_allocate()) all.push_back(block);
  CHECK(all.size() == 9);
  for (void* const each : all) CHECK(blocks.deallocate(each));
  CHECK_FALSE(blocks.deallocate(&blocks));
}

#endif

} // namespace
