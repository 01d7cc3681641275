#include "harness/memory/paged_memory.hpp"

#include <doctest/doctest.h>

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "harness/cell.hpp"

using namespace heapwise::bench;

namespace {

constexpr std::size_t asked_bytes = 5 << 20;

std::unique_ptr<paged_memory> on_huge_pages() {
  try {
    return std::make_unique<paged_memory>(asked_bytes, page_kind::huge);
  } catch (const refusal& refused) {
    MESSAGE("no huge pages here: " << refused.reason);
    return nullptr;
  }
}

} // namespace

TEST_CASE("small pages are small, all there, and at least as many bytes as asked for") {
  const paged_memory memory{asked_bytes, page_kind::small};
  CHECK(memory.size() >= asked_bytes);
  const resident_pages pages = resident_pages::of(memory.data(), memory.size());
  CHECK(pages.bytes == memory.size());
  CHECK(pages.huge_bytes == 0);
}

TEST_CASE("huge pages are huge, or refused") {
  const auto memory = on_huge_pages();
  if (!memory) return;
  const resident_pages pages = resident_pages::of(memory->data(), memory->size());
  CHECK(pages.huge_bytes == memory->size());
  CHECK(reinterpret_cast<std::uintptr_t>(memory->data()) % huge_page_bytes() == 0);
}

TEST_CASE("a huge page that was broken up is not counted") {
  const auto memory = on_huge_pages();
  if (!memory) return;
  REQUIRE(madvise(memory->data(), 4096, MADV_DONTNEED) == 0);
  const resident_pages pages = resident_pages::of(memory->data(), memory->size());
  CHECK(pages.huge_bytes == memory->size() - huge_page_bytes());
}

TEST_CASE("pages beside the memory are not counted with it") {
  const paged_memory first{asked_bytes, page_kind::small};
  const paged_memory second{asked_bytes, page_kind::small};
  CHECK(resident_pages::of(first.data(), first.size()).bytes == first.size());
  CHECK(resident_pages::of(first.data() - 4096, 4096).bytes == 0);
}
