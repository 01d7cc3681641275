#include <heapwise/checking.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>
#include <heapwise/concepts.hpp>
#include <heapwise/detail/chunks.hpp>

#include "contract/child.hpp"

namespace {

using contract::ending;
using contract::in_child;
using heapwise::checked;
using heapwise::foreign_checked;
using heapwise::detail::chunks;
using heapwise::detail::encoded_links;
using heapwise::detail::geometry;

static_assert(heapwise::checking_policy<checked>);
static_assert(heapwise::checking_policy<foreign_checked>);
static_assert(std::is_empty_v<foreign_checked>);

struct alignas(16) block {
  std::array<std::uint64_t, 8> words{};
};

TEST_CASE("sealed words come back, and look like nothing") {
  const checked check;
  std::mt19937_64 random{1};
  block here;
  block there;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t word = random();
    CHECK(check.unseal(&here, check.seal(&here, word)) == word);
    CHECK(check.seal(&here, word) != check.seal(&there, word));
    CHECK(check.seal(&here, word) != word);
  }
}

TEST_CASE("a bit that flips in a sealed word changes what it decodes to, mostly far up") {
  const checked check;
  block here;
  const std::uint64_t sealed = check.seal(&here, 5);
  int shows_above_32_bits = 0;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t decoded = check.unseal(&here, sealed ^ (std::uint64_t{1} << bit));
    CHECK(decoded != 5);
    if (decoded >> 32 != 0) ++shows_above_32_bits;
  }
  CHECK(shows_above_32_bits == 64);
}

struct destroy_chunks {
  void operator()(chunks* memory) const noexcept { chunks::destroy(memory); }
};

TEST_CASE("links come back, a null one too, and a link moved to another block is noticed") {
  const std::unique_ptr<chunks, destroy_chunks> home{chunks::create(
      geometry::of({.block_size = 64, .block_count = 3}, 0, 8), heapwise::os_blocks())};
  const encoded_links links{0x1234'5678, home.get()};
  void* const blocks[] = {home->address_of(0), home->address_of(1), home->address_of(2)};
  links.store(blocks[0], blocks[1]);
  CHECK(links.load(blocks[0]) == blocks[1]);
  links.store(blocks[0], nullptr);
  CHECK(links.load(blocks[0]) == nullptr);
  links.store(blocks[0], blocks[1]);
  for (void* const other : {blocks[1], blocks[2]}) { // the address is a part of the code
    const ending how = in_child([&] {
      std::memcpy(other, blocks[0], sizeof(void*));
      static_cast<void>(links.load(other));
    });
    CHECK(how.signal == SIGABRT);
  }
}

TEST_CASE("a link must lead to the first byte of a block of the pool") {
  const std::unique_ptr<chunks, destroy_chunks> home{chunks::create(
      geometry::of({.block_size = 64, .block_count = 3}, 0, 8), heapwise::os_blocks())};
  const encoded_links links{0x1234'5678, home.get()};
  auto* const first = static_cast<std::byte*>(home->address_of(0));
  block elsewhere;
  for (void* const next : {static_cast<void*>(first + 8), static_cast<void*>(first + 3 * 64),
                           static_cast<void*>(first - 64), static_cast<void*>(&elsewhere)}) {
    links.store(first, next);
    CHECK(in_child([&] { static_cast<void>(links.load(first)); }).signal == SIGABRT);
  }
}

TEST_CASE("addresses with a tag in their top byte keep it, and belong to their chunk only") {
  const encoded_links links{0x1234'5678};
  block here;
  for (std::uintptr_t tag = 0; tag < 256; ++tag) {
    const std::uintptr_t base = tag << 56 | 0x7F12'3456'7000;
    void* const next = reinterpret_cast<void*>(base + 3 * 48);
    links.store(&here, next);
    CHECK(links.load(&here) == next);
    const heapwise::detail::chunk piece{.base = reinterpret_cast<std::byte*>(base),
                                        .blocks = 10,
                                        .first_index = 0,
                                        .size_bytes = 4096,
                                        .older = nullptr,
                                        .memory = reinterpret_cast<std::byte*>(base)};
    const heapwise::detail::stride_divider divider{48};
    CHECK(piece.index_of(next, divider) == 3);
    const std::uintptr_t other_tag = std::uintptr_t{1} << 60;
    CHECK(piece.index_of(reinterpret_cast<void*>((base + 3 * 48) ^ other_tag), divider) >= 10);
  }
}

TEST_CASE("a block's life: carved, handed out, taken back, handed out") {
  const checked check;
  block one;
  block copy;
  constexpr std::size_t size = 48;
  check.carved(&one, size);
  check.acquire(&one, size);
  std::fill_n(one.words.begin(), size / 8, ~std::uint64_t{0});
  check.release(&one, size);
  copy = one;
  check.acquire(&one, size);
  CHECK(one.words[6] != copy.words[6]); // the guard word says which state the block is in
  CHECK(one.words[7] == 0);             // nothing is written behind it
}

TEST_CASE("the key differs from process to process") {
  const std::uintptr_t here = heapwise::detail::process_key();
  CHECK(here == heapwise::detail::process_key());
  CHECK(here != 0);
}

TEST_CASE("every violation has its line, and ends the process") {
  struct row {
    heapwise::violation what;
    const char* text;
  };
  using heapwise::violation;
  for (const row& each : {row{violation::double_free, "double free"},
                          row{violation::guard_overwritten, "write behind the end of a block"},
                          row{violation::write_after_free, "write to a free block"},
                          row{violation::link_corrupted, "corrupted link in a free block"}}) {
    const auto* const address = reinterpret_cast<const void*>(std::uintptr_t{0xABCD'EF00});
    const ending how =
        in_child([&] { heapwise::detail::report_violation(each.what, address, 32); });
    CHECK(how.signal == SIGABRT);
    CHECK(how.error ==
          std::string{"heapwise: pool: "} + each.text + ": block 0xabcdef00 of 32 bytes\n");
  }
}

} // namespace
