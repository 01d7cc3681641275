#include "line/json_line.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/random.hpp"

using heapwise::bench::json_line;
using nlohmann::json;

namespace {

template <class Write>
json written(Write write) {
  static char buffer[65536];
  json_line line{buffer, sizeof buffer};
  write(line);
  REQUIRE(line.ok());
  return json::parse(line.text());
}

} // namespace

TEST_CASE("objects and arrays nest, commas come where they belong") {
  const json read = written([](json_line& line) {
    line.open('{').field("a", 1).key("b").open('[').value(2).open('{').close('}').open('[');
    line.close(']').null().close(']').field("c", true).key("d").open('{').field("e", "f");
    line.close('}').close('}').end_of_line();
  });
  CHECK(read == json::parse(R"({"a":1,"b":[2,{},[],null],"c":true,"d":{"e":"f"}})"));
}

TEST_CASE("members that are JSON already stand between others") {
  const json read = written(
      [](json_line& line) { line.open('{').members(R"("a":1,"b":2)").field("c", 3).close('}'); });
  CHECK(read == json::parse(R"({"a":1,"b":2,"c":3})"));
}

TEST_CASE("whole numbers come through at their limits") {
  const json read = written([](json_line& line) {
    line.open('[').value(INT64_MIN).value(INT64_MAX).value(UINT64_MAX).value(0).value(-1);
    line.close(']');
  });
  CHECK(read[0] == INT64_MIN);
  CHECK(read[1] == INT64_MAX);
  CHECK(read[2] == UINT64_MAX);
  CHECK(read[3] == 0);
  CHECK(read[4] == -1);
}

TEST_CASE("every finite number reads back as itself, others are null") {
  heapwise::bench::random_numbers random{5};
  for (int i = 0; i < 10'000; ++i) {
    const double number = std::bit_cast<double>(random.next());
    const json read = written([&](json_line& line) { line.open('[').value(number).close(']'); });
    if (std::isfinite(number)) {
      REQUIRE(read[0].get<double>() == number);
    } else {
      REQUIRE(read[0].is_null());
    }
  }
  const json short_one = written([](json_line& line) { line.open('[').value(0.1).close(']'); });
  CHECK(short_one.dump() == "[0.1]");
}

TEST_CASE("any bytes make valid JSON, and valid text comes through unchanged") {
  const std::string text = "tab\t quote\" back\\ nul" + std::string(1, '\0') + " ä € 𝄞";
  const json read =
      written([&](json_line& line) { line.open('[').value(std::string_view{text}).close(']'); });
  CHECK(read[0].get<std::string>() == text);
  heapwise::bench::random_numbers random{6};
  for (int i = 0; i < 2'000; ++i) {
    std::string bytes(20, ' ');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    written([&](json_line& line) { line.open('[').value(std::string_view{bytes}).close(']'); });
  }
}

TEST_CASE("ill-formed UTF-8 is replaced, byte by byte") {
  for (const char* bad : {"\xff", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                          "\xc3", "\xe2\x82"}) {
    const json read = written([&](json_line& line) { line.open('[').value(bad).close(']'); });
    CHECK(read[0].get<std::string>().starts_with("\xef\xbf\xbd"));
  }
}

TEST_CASE("a line that does not fit says so and stays in its buffer") {
  char buffer[8] = {0, 0, 0, 0, 0, 0, 0, 'x'};
  json_line line{buffer, 7};
  line.open('{').field("name", "value").close('}');
  CHECK_FALSE(line.ok());
  CHECK(line.text().size() == 7);
  CHECK(buffer[7] == 'x');
}
