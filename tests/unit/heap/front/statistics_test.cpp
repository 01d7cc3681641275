// The numbers that the heap gives away, beside those of the kernel.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>
#include <unistd.h>

#include "contract/child.hpp"
#include "heap/surroundings.hpp"

extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}

namespace {

using namespace heap_tests;

/// Whether a sanitizer watches, whose notes are resident too.
bool has_shadow() { return __asan_init != nullptr || __tsan_init != nullptr; }

constexpr std::size_t mib = std::size_t{1} << 20;

heapwise_malloc_statistics now() {
  start_without_clock();
  heapwise_malloc_statistics read;
  heapwise_malloc_statistics_get(&read);
  return read;
}

/// Returns: what the kernel says is resident, in bytes.
std::size_t resident_bytes() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  REQUIRE(file != nullptr);
  REQUIRE(std::fscanf(file, "%zu %zu", &total, &resident) == 2);
  std::fclose(file);
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Spans hold blocks that are handed out, cached, free or large, and the rest of a span.
bool adds_up(const heapwise_malloc_statistics& some, std::size_t live_bytes) {
  const std::size_t known = live_bytes + some.cached_bytes + some.free_bytes;
  const std::size_t spans = some.span_bytes - some.large_bytes;
  return known <= spans && spans - known <= spans / 20 + mib / 4;
}

TEST_CASE("the books agree with what was asked for") {
  heapwise_malloc_purge();
  const heapwise_malloc_statistics before = now();
  std::vector<void*> blocks;
  for (std::size_t at = 0; at < 8 * mib; at += 512) blocks.push_back(heapwise_malloc(512));
  void* const large = heapwise_malloc(3 * mib);
  const heapwise_malloc_statistics full = now();
  CHECK(adds_up(full, 8 * mib));
  CHECK(full.large_blocks == before.large_blocks + 1);
  CHECK(full.large_bytes == before.large_bytes + 3 * mib);
  CHECK(full.spans >= before.spans + 8 * mib / slice_bytes - 1);
  CHECK(full.refills > before.refills);
  CHECK(full.committed_bytes >= full.span_bytes + full.dirty_bytes);
  CHECK(full.reserved_bytes >= full.committed_bytes);
  CHECK(full.metadata_bytes > 0);
  CHECK(full.metadata_bytes < full.committed_bytes / 20);
  for (void* each : blocks) heapwise_free(each);
  heapwise_free(large);
  const heapwise_malloc_statistics empty = now();
  CHECK(adds_up(empty, 0));
  CHECK(empty.flushes > before.flushes);
  CHECK(empty.large_bytes == before.large_bytes);
  CHECK(empty.dirty_bytes >= 3 * mib);
  const std::size_t purged = heapwise_malloc_purge();
  const heapwise_malloc_statistics last = now();
  CHECK(last.purged_bytes == empty.purged_bytes + purged);
  CHECK(last.dirty_bytes == 0);
}

TEST_CASE("threads and heaps are counted while they are there") {
  const heapwise_malloc_statistics before = now();
  heapwise_heap* const heap = heapwise_heap_create();
  std::thread{[&] {
    heapwise_free(heapwise_malloc(1));
    CHECK(now().threads == before.threads + 1 + (before.threads == 0 ? 1 : 0));
  }}.join();
  CHECK(now().heaps == before.heaps + 1);
  heapwise_heap_destroy(heap);
  CHECK(now().heaps == before.heaps);
}

TEST_CASE("a whole process, beside what the kernel counts") {
  if (has_shadow()) return;
  start_without_clock(); // it would give back what the test has not looked at yet
  heapwise_malloc_purge();
  const std::size_t before = resident_bytes();
  std::vector<void*> blocks;
  blocks.reserve(64 * mib / 1024);
  for (std::size_t at = 0; at < 64 * mib; at += 1024) {
    blocks.push_back(heapwise_malloc(1024));
    std::memset(blocks.back(), 1, 1024);
  }
  const std::size_t grown = resident_bytes() - before;
  CHECK(grown >= 64 * mib);
  CHECK(grown <= 70 * mib);
  for (void* each : blocks) heapwise_free(each);
  const std::size_t full = resident_bytes();
  const std::size_t purged = heapwise_malloc_purge();
  const std::size_t returned_bytes = full - resident_bytes();
  CHECK(purged >= 63 * mib);
  CHECK(returned_bytes + mib >= purged);
  CHECK(returned_bytes <= purged + mib);
}

TEST_CASE("the page for people: a row for each number, then one for each class in use") {
  const contract::ending how = contract::in_child([] {
    start_without_clock();
    std::vector<void*> blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(heapwise_malloc(5000)); // 5440
    blocks.push_back(heapwise_malloc(4 * mib));
    heapwise_malloc_stats();
  });
  CHECK(how.error.rfind("heapwise malloc, profile default\n", 0) == 0);
  CHECK(how.error.find("  large blocks                         1\n") != std::string::npos);
  CHECK(how.error.find("  of them in large blocks           4096 KiB\n") != std::string::npos);
  CHECK(how.error.find("\n      5440         1          12") != std::string::npos);
  CHECK(how.error.find("\n      6144 ") == std::string::npos);
}

std::string json_text() {
  std::vector<char> text(heapwise_malloc_statistics_json(nullptr, 0) + 1'000);
  const std::size_t length = heapwise_malloc_statistics_json(text.data(), text.size());
  CHECK(length < text.size());
  CHECK(length == std::strlen(text.data()));
  return text.data();
}

TEST_CASE("the statistics as JSON have each number once, and an object for each class in use") {
  start_without_clock();
  void* const block = heapwise_malloc(11 * mib);
  void* const small = heapwise_malloc(48);
  const heapwise_malloc_statistics read = now();
  const std::string json = json_text();
  const auto count = [&](const std::string& part) {
    std::size_t occurrences = 0;
    for (std::size_t at = json.find(part); at != json.npos; at = json.find(part, at + 1))
      ++occurrences;
    return occurrences;
  };
  CHECK(json.starts_with("{\"profile\":\""));
  CHECK(json.ends_with("}]}"));
  CHECK(count("{") == count("}"));
  CHECK(count("\"large_bytes\":" + std::to_string(read.large_bytes) + ",") == 1);
  CHECK(count("\"large_blocks\":" + std::to_string(read.large_blocks) + ",") == 1);
  CHECK(count("\"threads\":" + std::to_string(read.threads) + ",") == 1);
  CHECK(count("_bytes\":") == 9 + count("\"block_bytes\":"));
  CHECK(count("{\"block_bytes\":48,\"spans\":") == 1);
  CHECK(count(",,") + count("[,") + count("{,") + count("}{") == 0);
  heapwise_free(small);
  heapwise_free(block);
}

TEST_CASE("JSON that does not fit is cut off, and its whole length is told") {
  start_without_clock();
  const std::string whole = json_text();
  std::vector<char> text(64, 'x');
  for (std::size_t capacity = 1; capacity < 60; ++capacity) {
    CHECK(heapwise_malloc_statistics_json(text.data(), capacity) >= whole.size() - 100);
    CHECK(text[capacity - 1] == 0);
    CHECK(whole.starts_with(text.data()));
    CHECK(text[capacity] == 'x');
    std::fill(text.begin(), text.end(), 'x');
  }
}

} // namespace
