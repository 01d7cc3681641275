#include "kernel/cpu_list.hpp"

#include <doctest/doctest.h>

#include <string>

using heapwise::bench::cpu_list;
using heapwise::bench::json_line;

namespace {

std::string written(const cpu_list& list) {
  char buffer[8192];
  json_line line{buffer, sizeof buffer};
  list.write(line);
  return std::string{line.text()};
}

} // namespace

TEST_CASE("lists and ranges are read") {
  cpu_list list;
  REQUIRE(cpu_list::parse("0,2-4,9", list));
  CHECK(written(list) == "[0,2,3,4,9]");
  CHECK(list.size() == 5);
  REQUIRE(cpu_list::parse("3", list));
  CHECK(written(list) == "[3]");
}

TEST_CASE("a text that is not a list is refused") {
  cpu_list list;
  for (const char* text : {"", ",", "1,", "a", "-1", "3-1", "1-", "0x1", "1 2", "99999999999"}) {
    CHECK_FALSE_MESSAGE(cpu_list::parse(text, list), text);
  }
}

TEST_CASE("the kernel's answer holds the processor that the thread runs on") {
  const cpu_list allowed = cpu_list::of_this_thread();
  cpu_list here;
  here.insert_current();
  CHECK(here.size() == 1);
  CHECK(here.within(allowed));
  cpu_list none;
  CHECK_FALSE(here.within(none));
}

TEST_CASE("a list that is applied is what the kernel reads back") {
  const cpu_list before = cpu_list::of_this_thread();
  cpu_list one;
  one.insert_current();
  REQUIRE(one.apply());
  CHECK(written(cpu_list::of_this_thread()) == written(one));
  REQUIRE(before.apply());
}
