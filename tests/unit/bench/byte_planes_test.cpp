#include "drain/frames/byte_planes.hpp"

#include <doctest/doctest.h>

using namespace heapwise::bench;

namespace {

std::vector<unsigned char> bytes_of(const byte_planes& column, std::size_t count) {
  std::vector<unsigned char> bytes(column.width() * count);
  CHECK(column.copy_to(bytes.data()) == bytes.data() + bytes.size());
  return bytes;
}

} // namespace

TEST_CASE("a column without a number above zero has no bytes") {
  byte_planes column;
  column.append(std::span<const std::uint32_t>{std::array<std::uint32_t, 3>{}}, 0);
  CHECK(column.width() == 0);
}

TEST_CASE("numbers that need more bytes give those before them zeros") {
  byte_planes column;
  const std::array<std::uint64_t, 2> small{7, 9};
  const std::array<std::uint64_t, 3> large{0x010203, 5, 0x0400};
  column.append(std::span<const std::uint64_t>{small}, 0);
  CHECK(bytes_of(column, 2) == std::vector<unsigned char>{7, 9});
  column.append(std::span<const std::uint64_t>{large}, 2);
  CHECK(bytes_of(column, 5) ==
        std::vector<unsigned char>{7, 9, 3, 5, 0, 0, 0, 2, 0, 4, 0, 0, 1, 0, 0});
  column.append(std::span<const std::uint64_t>{small}, 5);
  CHECK(bytes_of(column, 7) == std::vector<unsigned char>{7, 9, 3, 5, 0, 7, 9, //
                                                          0, 0, 2, 0, 4, 0, 0, //
                                                          0, 0, 1, 0, 0, 0, 0});
}

TEST_CASE("a column that was cleared knows nothing of before") {
  byte_planes column;
  const std::array<std::uint32_t, 2> large{0x0100, 0x0200};
  const std::array<std::uint32_t, 1> small{3};
  column.append(std::span<const std::uint32_t>{large}, 0);
  column.clear();
  column.append(std::span<const std::uint32_t>{small}, 0);
  CHECK(bytes_of(column, 1) == std::vector<unsigned char>{3});
  column.append(std::span<const std::uint32_t>{large}, 1);
  CHECK(bytes_of(column, 3) == std::vector<unsigned char>{3, 0, 0, 0, 1, 2});
}
