#include "os/reports/mapped_files.hpp"

#include <string_view>

#include <dlfcn.h>
#include <doctest/doctest.h>

namespace {

namespace os = heapwise::os;

/// Returns: the piece of a file that holds the address; an empty one if none does.
os::mapped_file piece_of(const void* address) {
  os::mapped_files files;
  for (os::mapped_file piece; files.next(piece);) {
    if (piece.holds(address)) return piece;
  }
  return {};
}

void check_as_the_loader(const void* code) {
  Dl_info known{};
  REQUIRE(dladdr(code, &known) != 0);
  const os::mapped_file piece = piece_of(code);
  CHECK(piece.base == reinterpret_cast<std::uintptr_t>(known.dli_fbase));
  CHECK(piece.end > piece.begin);
}

} // namespace

TEST_CASE("code is found in the file that the loader names") {
  check_as_the_loader(reinterpret_cast<const void*>(&check_as_the_loader)); // the program
  check_as_the_loader(dlsym(RTLD_DEFAULT, "getenv"));                       // a library
}

TEST_CASE("memory without a file is in none") {
  int local = 0;
  CHECK(piece_of(&local).end == 0);
  CHECK(piece_of(nullptr).end == 0);
}

TEST_CASE("the pieces are in order, and each has a path") {
  os::mapped_files files;
  std::uintptr_t last = 0;
  std::size_t count = 0;
  for (os::mapped_file piece; files.next(piece); ++count) {
    CHECK(piece.begin >= last);
    CHECK(piece.path.starts_with('/'));
    last = piece.end;
  }
  CHECK(count > 4);
}
