// Debug mode: what is written behind a block is found, and who allocated it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

#include "gc/process.hpp"
#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;

namespace {

struct damage {
  void* block;
  std::size_t size;
};
std::array<damage, 100> reports;
std::size_t report_count;

void note(void* block, std::size_t size, void* argument) {
  CHECK(argument == &report_count);
  if (report_count < reports.size()) reports[report_count++] = {block, size};
}

void start() {
  heapwise_gc_options options{};
  options.debug = 1;
  REQUIRE(heapwise_gc_init(&options) == 0);
  heapwise_gc_on_damage(note, &report_count);
  report_count = 0;
}

constexpr std::array<std::size_t, 9> sizes{0, 1, 8, 24, 40, 100, 5000, 33'000, 200'000};

void* volatile the_static_root;

/// Effects: writes a byte where nobody may, at a run-time offset that no compiler complains about.
void write_behind(void* block, std::size_t offset) {
  volatile std::size_t at = offset;
  static_cast<unsigned char*>(block)[at] ^= 0x40;
}

/// Returns: what a child writes to standard error.
template <class Body>
std::string said_by_process(Body body) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const int status = gc_test::status_of_process([&] {
    ::dup2(ends[1], STDERR_FILENO);
    body();
    return 0;
  });
  ::close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t length = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return status == 0 ? text : "status " + std::to_string(status) + ": " + text;
}

} // namespace

TEST_CASE("a byte behind a block is found when the block is freed, however far behind") {
  start();
  for (const std::size_t size : sizes) {
    for (const bool atomic : {false, true}) {
      for (std::size_t behind = 0; behind < 8; ++behind) {
        CAPTURE(size);
        void* const block = atomic ? heapwise_gc_malloc_atomic(size) : heapwise_gc_malloc(size);
        write_behind(block, size + behind);
        report_count = 0;
        heapwise_gc_free(block);
        REQUIRE(report_count == 1);
        CHECK(reports[0].block == block);
        CHECK(reports[0].size == size);
      }
    }
  }
}

TEST_CASE("bytes that a program may write are not damage") {
  start();
  for (const std::size_t size : sizes) {
    CAPTURE(size);
    void* block = heapwise_gc_malloc(size);
    CHECK(heapwise_gc_usable_size(block) == size);
    std::memset(block, 0xFF, size);
    block = heapwise_gc_realloc(block, size + 10);
    CHECK(heapwise_gc_usable_size(block) == size + 10);
    for (std::size_t each = 0; each < size; ++each) {
      REQUIRE(static_cast<unsigned char*>(block)[each] == 0xFF);
    }
    std::memset(block, 0, size + 10);
    block = heapwise_gc_realloc(block, size / 2);
    std::memset(block, 0xFF, size / 2);
    heapwise_gc_free(block);
    void* const aligned = heapwise_gc_malloc_aligned(256, size);
    CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0);
    std::memset(aligned, 0xFF, size);
    heapwise_gc_free(aligned);
  }
  heapwise_gc_collect();
  CHECK(report_count == 0);
}

TEST_CASE("a collection finds damage of blocks in use, each once, and of lost ones") {
  start();
  static std::array<hidden, 2> blocks;
  elsewhere([] {
    auto** const kept = static_cast<void**>(heapwise_gc_malloc(100));
    the_static_root = kept;
    kept[0] = heapwise_gc_malloc(50);
    blocks = {hidden{kept}, hidden{kept[0]}};
    write_behind(kept, 100);
    write_behind(kept[0], 50);
    write_behind(heapwise_gc_malloc(70'000), 70'000); // lost
  });
  heapwise_gc_collect();
  CHECK(report_count == 3);
  heapwise_gc_collect();
  CHECK(report_count == 3);
  the_static_root = nullptr;
  CHECK(gc_test::statistics().damaged_blocks >= 3);
}

TEST_CASE("blocks that are lost are handed out again and are whole") {
  start();
  elsewhere([] {
    for (int each = 0; each < 100'000; ++each) {
      auto* const block = static_cast<unsigned char*>(heapwise_gc_malloc(64));
      REQUIRE(std::all_of(block, block + 64, [](unsigned char byte) { return byte == 0; }));
      std::memset(block, 0x11, 64);
    }
  });
  heapwise_gc_collect();
  CHECK(report_count == 0);
  CHECK(gc_test::statistics().peak_heap_bytes < std::size_t{64} << 20);
}

TEST_CASE("the line names the code that allocated the block, unless that is gone as well") {
  const std::string said = said_by_process([] {
    start();
    heapwise_gc_on_damage(nullptr, nullptr);
    void* const block = heapwise_gc_malloc(30);
    write_behind(block, 30);
    heapwise_gc_free(block);
    void* const other = heapwise_gc_malloc(30);
    volatile std::size_t bytes = 62;
    std::memset(other, 1, bytes);
    heapwise_gc_free(other);
  });
  CAPTURE(said);
  CHECK(said.starts_with("heapwise: written behind its end: a block of 30 bytes at 0x"));
  CHECK(said.find("unit_gc_checks_debug_test+0x") != std::string::npos);
  const std::string second = said.substr(said.find('\n') + 1);
  CHECK(second.starts_with("heapwise: written behind its end: a block of "));
  CHECK(second.find("allocated by") == std::string::npos);
}
