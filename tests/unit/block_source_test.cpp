#include <heapwise/block_source.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <doctest/doctest.h>

namespace {

using heapwise::fake_blocks;
using heapwise::os_blocks;
using heapwise::static_blocks;

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

TEST_CASE("pages of the operating system: zero, aligned as wished, any size") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{100'000}}) {
    for (std::size_t alignment = 1; alignment <= std::size_t{1} << 22; alignment *= 8) {
      auto* const memory = static_cast<unsigned char*>(os_blocks().allocate(size, alignment));
      REQUIRE(memory != nullptr);
      CHECK(number_of(memory) % alignment == 0);
      CHECK(memory[0] == 0);
      CHECK(memory[size - 1] == 0);
      std::memset(memory, 1, size);
      os_blocks().deallocate(memory, size, alignment);
    }
  }
  CHECK(os_blocks().granularity_bytes() % 4096 == 0);
}

TEST_CASE("the operating system refuses what it cannot have") {
  CHECK(os_blocks().allocate(SIZE_MAX, 1) == nullptr);
  CHECK(os_blocks().allocate(SIZE_MAX - 4096, 1) == nullptr);
  CHECK(os_blocks().allocate(SIZE_MAX / 2, 4096) == nullptr);
  CHECK(os_blocks().allocate(4096, (SIZE_MAX >> 1) + 1) == nullptr);
  CHECK(os_blocks().allocate(0, 1) == nullptr);
}

TEST_CASE("a buffer is handed out from front to back, the last piece comes back") {
  alignas(64) std::array<std::byte, 1000> buffer;
  static_blocks source{buffer.data(), buffer.size()};
  CHECK(source.allocate(100, 1) == buffer.data());
  CHECK(source.allocate(100, 64) == buffer.data() + 128);
  CHECK(source.remaining_bytes() == 1000 - 228);
  source.deallocate(buffer.data(), 100, 1); // not the last: stays used
  CHECK(source.remaining_bytes() == 1000 - 228);
  source.deallocate(buffer.data() + 128, 100, 64);
  CHECK(source.allocate(50, 1) == buffer.data() + 128);
}

TEST_CASE("a buffer refuses what does not fit, to the byte") {
  alignas(64) std::array<std::byte, 256> buffer;
  static_blocks source{buffer.data(), buffer.size()};
  CHECK(source.allocate(257, 1) == nullptr);
  CHECK(source.allocate(SIZE_MAX, 64) == nullptr);
  CHECK(source.remaining_bytes() == 256);
  REQUIRE(source.allocate(1, 1) != nullptr);
  CHECK(source.allocate(193, 64) == nullptr);
  CHECK(source.allocate(192, 64) == buffer.data() + 64);
  CHECK(source.allocate(1, 1) == nullptr);
  CHECK(source.allocate(1, 512) == nullptr);
}

TEST_CASE("a fake counts and fails on demand") {
  fake_blocks source;
  source.fail_after(2);
  void* const one = source.allocate(4096, 8);
  void* const two = source.allocate(8192, 8);
  CHECK(one != nullptr);
  CHECK(two != nullptr);
  CHECK(source.allocate(1, 8) == nullptr);
  CHECK(source.requests() == 3);
  CHECK(source.pieces_out() == 2);
  CHECK(source.bytes_out() == 4096 + 8192);
  source.deallocate(one, 4096, 8);
  CHECK(source.pieces_out() == 1);
  CHECK(source.bytes_out() == 8192);
  CHECK(source.allocate(1, 8) == nullptr); // what came back does not lift the limit
  source.fail_after(1);
  void* const three = source.allocate(4096, 8);
  CHECK(three != nullptr);
  source.deallocate(two, 8192, 8);
  source.deallocate(three, 4096, 8);
  CHECK(source.granularity_bytes() == os_blocks().granularity_bytes());
}

TEST_CASE("a fake over a buffer does not count what the buffer refused") {
  std::array<std::byte, 64> buffer;
  static_blocks upstream{buffer.data(), buffer.size()};
  fake_blocks source{upstream};
  CHECK(source.allocate(65, 1) == nullptr);
  CHECK(source.pieces_out() == 0);
  CHECK(source.requests() == 1);
}

TEST_CASE("a piece of the system's pages can be enlarged, with what is in it") {
  fake_blocks source;
  constexpr std::size_t page = 65536; // a multiple of every page size
  auto* piece = static_cast<unsigned char*>(source.allocate(page, 16));
  REQUIRE(piece != nullptr);
  piece[0] = 7;
  piece[page - 1] = 8;
  piece = static_cast<unsigned char*>(source.enlarge(piece, page, 40 * page, 16));
  REQUIRE(piece != nullptr);
  CHECK(piece[0] == 7);
  CHECK(piece[page - 1] == 8);
  CHECK(piece[40 * page - 1] == 0);
  CHECK(source.bytes_out() == 40 * page);
  CHECK(source.pieces_out() == 1);
  // Refused: for an alignment that another place would not have, for lack of addresses, on demand.
  constexpr std::size_t absurd = std::numeric_limits<std::size_t>::max() / 2 / page * page;
  CHECK(source.enlarge(piece, 40 * page, 80 * page, 2 * page) == nullptr);
  CHECK(source.enlarge(piece, 40 * page, absurd, 16) == nullptr);
  source.fail_after(0);
  CHECK(source.enlarge(piece, 40 * page, 80 * page, 16) == nullptr);
  CHECK(piece[0] == 7);
  source.deallocate(piece, 40 * page, 16);
  CHECK(source.bytes_out() == 0);
}

TEST_CASE("a source that cannot enlarge says so") {
  alignas(64) static std::array<std::byte, 256> buffer;
  static_blocks source{buffer.data(), buffer.size()};
  void* const piece = source.allocate(64, 16);
  CHECK(source.enlarge(piece, 64, 128, 16) == nullptr);
}

} // namespace
