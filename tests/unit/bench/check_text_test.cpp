#include "harness/check_text.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using heapwise::bench::check_text;

TEST_CASE("each pair of braces stands for an argument") {
  const std::atomic<int> shared{-3};
  CHECK(std::string_view{
            check_text::of("{} of {}, {} and {}", 7U, INT64_MIN, shared, "text").c_str()} ==
        "7 of -9223372036854775808, -3 and text");
  CHECK(std::string_view{check_text::of("nothing").c_str()} == "nothing");
  CHECK(std::string_view{check_text::of("{}", std::numeric_limits<std::uint64_t>::max()).c_str()} ==
        "18446744073709551615");
}

TEST_CASE("text that does not fit is cut") {
  const std::string longer(500, 'x');
  const check_text cut = check_text::of("{}{}", longer.c_str(), 12345);
  const std::string_view text{cut.c_str()};
  CHECK(text.size() == 199);
  CHECK(text.find_first_not_of('x') == std::string_view::npos);
}
