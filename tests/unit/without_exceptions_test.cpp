// A program without exceptions and RTTI uses the library. That part is compiled for itself (see
// tests/CMakeLists.txt); this one must not include headers of the library.
#include <csignal>

#include <doctest/doctest.h>

#include "contract/child.hpp"
#include "plain/plain.hpp"

namespace {

TEST_CASE("try functions, pools, arenas and resources work without exceptions and RTTI") {
  CHECK(plain::use_everything() == 0);
}

TEST_CASE("without exceptions, exhaustion in a function that throws ends the program") {
  for (void (*const exhaust)() :
       {plain::exhaust_pool, plain::exhaust_arena, plain::exhaust_hybrid}) {
    const contract::ending how = contract::in_child([&]() noexcept { exhaust(); });
    CHECK(how.signal == SIGABRT);
  }
}

} // namespace
