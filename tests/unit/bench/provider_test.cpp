#include "probe/provider.hpp"

#include <doctest/doctest.h>

#include <dlfcn.h>

#include <cstdlib>
#include <string>

using heapwise::bench::find_provider;
using heapwise::bench::provider;

TEST_CASE("what is found is what the loader bound, where dladdr can tell") {
  static provider found;
  find_provider("getenv", found);
  Dl_info info{};
  REQUIRE(dladdr(dlsym(RTLD_DEFAULT, "getenv"), &info) != 0);
  REQUIRE(found.found);
  CHECK(std::string{found.path} == info.dli_fname);
  CHECK(std::string{found.path}.find("libc.so") != std::string::npos);
  CHECK(std::string{found.build_id}.size() == 40);
}

TEST_CASE("a name that nobody defines has no provider") {
  static provider found;
  find_provider("heapwise_no_such_function", found);
  CHECK_FALSE(found.found);
}
