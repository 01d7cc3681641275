#include <heapwise/checking.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>
#include <heapwise/concepts.hpp>

#include "contract/child.hpp"

namespace {

using contract::ending;
using contract::in_child;
using heapwise::checked;
using heapwise::unchecked;
using heapwise::detail::encoded_links;

static_assert(heapwise::checking_policy<checked>);
static_assert(heapwise::checking_policy<unchecked>);
static_assert(std::is_empty_v<unchecked>);

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

TEST_CASE("links come back, a null one too, and a link moved to another block is noticed") {
  const encoded_links links{0x1234'5678};
  std::array<block, 3> blocks;
  links.store(&blocks[0], &blocks[1]);
  CHECK(links.load(&blocks[0]) == &blocks[1]);
  links.store(&blocks[0], nullptr);
  CHECK(links.load(&blocks[0]) == nullptr);
  links.store(&blocks[0], &blocks[1]);
  // The address is a part of the seal. One wrong word in 2^16 passes, so two are tried.
  int noticed = 0;
  for (const std::size_t other : {std::size_t{1}, std::size_t{2}}) {
    const ending how = in_child([&] {
      blocks[other] = blocks[0];
      static_cast<void>(links.load(&blocks[other]));
    });
    if (how.signal == SIGABRT) ++noticed;
  }
  CHECK(noticed > 0);
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
  CHECK(one.words[6] != copy.words[6]);  // the guard word says which state the block is in
  CHECK(one.words[7] == 0);              // nothing is written behind it
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
  for (const row& each :
       {row{violation::double_free, "double free"},
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

}  // namespace
