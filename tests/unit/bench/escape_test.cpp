#include "harness/escape.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace heapwise::bench;

TEST_CASE("the guards change nothing that they guard") {
  int number = 5;
  escape(&number);
  keep(number);
  clobber();
  forget(number);
  CHECK(number == 5);
  char* block = static_cast<char*>(std::malloc(8));
  touch(block);
  CHECK(block[0] == 1);
  std::free(block);
}
