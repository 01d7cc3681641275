#include "probe/provider.hpp"

#include <doctest/doctest.h>

#include <dlfcn.h>

#include <cstdlib>
#include <string>

using heapwise::bench::find_provider;
using heapwise::bench::provider;

TEST_CASE("the function that is found is the one that the loader bound, where dladdr can tell") {
  static provider the_provider;
  find_provider("getenv", the_provider);
  Dl_info info{};
  REQUIRE(dladdr(dlsym(RTLD_DEFAULT, "getenv"), &info) != 0);
  REQUIRE(the_provider.found);
  CHECK(std::string{the_provider.path} == info.dli_fname);
  CHECK(std::string{the_provider.path}.find("libc.so") != std::string::npos);
  CHECK(std::string{the_provider.build_id}.size() == 40);
}

TEST_CASE("a name that nobody defines has no provider") {
  static provider the_provider;
  find_provider("heapwise_no_such_function", the_provider);
  CHECK_FALSE(the_provider.found);
}
