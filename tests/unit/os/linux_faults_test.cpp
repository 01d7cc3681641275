#include "os/faults.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "contract/child.hpp"
#include "os/os.hpp"

namespace {

namespace os = heapwise::os;

/// Returns: whether a child may touch the byte. It is a fork: what is hidden stays so there.
bool can_touch(volatile std::byte* byte) {
  return contract::in_child([&] { *byte = std::byte{1}; }).exit_code == 0;
}

void hide_and_reveal() {
  const std::size_t page = os::page_bytes();
  auto* const memory = static_cast<std::byte*>(os::map(3 * page, page));
  REQUIRE(memory != nullptr);
  for (std::size_t at = 0; at < 3 * page; ++at) memory[at] = std::byte{7};
  errno = 42;
  const os::hidden_by how = os::hide(memory + page, page);
  CHECK(errno == 42);
  REQUIRE(how != os::hidden_by::nothing);
  CHECK_FALSE(can_touch(memory + page));
  CHECK_FALSE(can_touch(memory + 2 * page - 1));
  CHECK(can_touch(memory + page - 1));
  CHECK(can_touch(memory + 2 * page));
  CHECK(os::purge(memory, 3 * page)); // it stays hidden
  CHECK_FALSE(can_touch(memory + page));
  CHECK(os::reveal(memory + page, page, how));
  for (std::size_t at = 0; at < page; ++at) REQUIRE(memory[page + at] == std::byte{0});
  CHECK(can_touch(memory + page));
  os::unmap(memory, 3 * page);
}

TEST_CASE("hidden pages cannot be touched, and are zero when they are revealed") {
  os::prepare_hiding();
  hide_and_reveal();
}

TEST_CASE("pages of a process that locks its memory are hidden by protection") {
  os::prepare_hiding();
  const std::size_t page = os::page_bytes();
  void* const memory = os::map(page, page);
  REQUIRE(memory != nullptr);
  if (::mlock(memory, page) != 0) {
    MESSAGE("no memory may be locked here");
  } else if (const os::hidden_by how = os::hide(memory, page); how == os::hidden_by::protection) {
    CHECK_FALSE(can_touch(static_cast<std::byte*>(memory)));
    CHECK(os::reveal(memory, page, how));
  }
  os::unmap(memory, page);
}

TEST_CASE("pages that may not be given back later are not hidden by protection") {
  const auto ended = contract::in_child([] {
    const rlimit data{.rlim_cur = rlim_t{1} << 30, .rlim_max = RLIM_INFINITY};
    if (::setrlimit(RLIMIT_DATA, &data) != 0) std::_Exit(2);
    rlimit seen{};
    if (::getrlimit(RLIMIT_DATA, &seen) != 0) std::_Exit(2);
    if (seen.rlim_cur != data.rlim_cur) std::_Exit(0); // qemu's user mode has none
    os::prepare_hiding();
    const std::size_t page = os::page_bytes();
    void* const memory = os::map(page, page);
    if (::mlock(memory, page) != 0) std::_Exit(0); // else marks would do
    if (os::hide(memory, page) != os::hidden_by::nothing) std::_Exit(1);
  });
  CHECK(ended.exit_code == 0);
}

} // namespace
