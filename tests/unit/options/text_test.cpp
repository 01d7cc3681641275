#include "options/text.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "contract/child.hpp"

namespace {

using heapwise::detail::text;

std::string number(std::size_t value, std::size_t width = 0) {
  text line;
  return std::string{line.add(value, width).view()};
}

std::string address(std::uintptr_t value) {
  text line;
  return std::string{line.add_address(reinterpret_cast<const void*>(value)).view()};
}

TEST_CASE("numbers, on the right of their column") {
  CHECK(number(0) == "0");
  CHECK(number(1234567890) == "1234567890");
  CHECK(number(std::numeric_limits<std::size_t>::max()) == "18446744073709551615");
  CHECK(number(0, 3) == "  0");
  CHECK(number(42, 2) == "42");
  CHECK(number(42, 1) == "42");
  CHECK(number(42, 5) == "   42");
}

TEST_CASE("addresses without zeros in front") {
  CHECK(address(0) == "0x0");
  CHECK(address(0x10) == "0x10");
  CHECK(address(0x7f00000000f0) == "0x7f00000000f0");
  CHECK(address(~std::uintptr_t{0}) == "0xffffffffffffffff");
}

TEST_CASE("text that does not fit is cut off, and there is room again once it is cleared") {
  text line;
  for (int i = 0; i < 200; ++i) line.add("abc").add(std::size_t{7}, 2).add_address(&line);
  const std::size_t room = line.view().size();
  CHECK(room == 512);
  line.add("more");
  CHECK(line.view().size() == room);
  line.clear();
  CHECK(line.view().empty());
  CHECK(line.add("new").view() == "new");
}

TEST_CASE("a line is written to standard error as it is") {
  const contract::ending how = contract::in_child([] {
    text line;
    line.add("one ").add(std::size_t{2}).add(" three\n").write();
  });
  CHECK(how.error == "one 2 three\n");
}

} // namespace
