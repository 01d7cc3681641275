#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <sys/mman.h>

#include "contract/child.hpp"
#include "os/os.hpp"

namespace {

namespace os = heapwise::os;

TEST_CASE("the size of a page is a power of two and stays") {
  const std::size_t size = os::page_bytes();
  CHECK(size >= 4096);
  CHECK((size & (size - 1)) == 0);
  CHECK(os::page_bytes() == size);
}

TEST_CASE("mapped pages are zero, writable, aligned, and gone afterwards") {
  const std::size_t page = os::page_bytes();
  for (std::size_t alignment = 1; alignment <= 64 * page; alignment *= 2) {
    auto* const memory = static_cast<unsigned char*>(os::map(3 * page, alignment));
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
    for (std::size_t i = 0; i < 3 * page; i += 512) REQUIRE(memory[i] == 0);
    std::memset(memory, 1, 3 * page);
    os::unmap(memory, 3 * page);
    CHECK(contract::in_child([&] { memory[page] = 1; }).exit_code != 0);
  }
}

TEST_CASE("pages come to the address asked for, or not at all") {
  const std::size_t page = os::page_bytes();
  auto* const memory = static_cast<unsigned char*>(os::map(4 * page, 1));
  REQUIRE(memory != nullptr);
  memory[page] = 1;
  errno = 42;
  CHECK(os::map_at(memory + page, page) == os::placed::occupied);
  CHECK(memory[page] == 1);
  os::unmap(memory, 2 * page);
  CHECK(os::map_at(memory, 4 * page) == os::placed::occupied); // in part
  CHECK(contract::in_child([&] { memory[0] = 1; }).exit_code != 0);
  CHECK(os::map_at(memory, 2 * page) == os::placed::here);
  CHECK(memory[page] == 0);
  memory[0] = memory[page] = 2;
  os::unmap(memory, 4 * page);
  CHECK(os::reserve_at(memory, 4 * page) == os::placed::here);
  CHECK(contract::in_child([&] { memory[0] = 1; }).exit_code != 0);
  CHECK(os::commit(memory, page));
  memory[0] = 3;
  const bool refused = os::map_at(memory, std::size_t{1} << 62) == os::placed::refused;
  const int seen = errno;
  CHECK(refused);
  CHECK(seen == 42);
  os::unmap(memory, 4 * page);
}

TEST_CASE("quiet addresses are aligned, and far from everything that is mapped") {
  constexpr std::size_t size = std::size_t{1} << 26;
  for (int i = 0; i < 8; ++i) {
    void* const addresses = os::quiet_addresses(size, 1 << 16);
    if (addresses == nullptr) return; // none are known for this processor
    CHECK(reinterpret_cast<std::uintptr_t>(addresses) % (1 << 16) == 0);
    if (os::reserve_at(addresses, size) != os::placed::here)
      return; // a system with fewer addresses
    os::unmap(addresses, size);
  }
  CHECK(os::quiet_addresses(SIZE_MAX / 2, 1 << 16) == nullptr);
}

TEST_CASE("a hole is found, and locked memory is not one") {
  const std::size_t page = os::page_bytes();
  auto* const memory = static_cast<unsigned char*>(os::map(4 * page, 1));
  REQUIRE(memory != nullptr);
  memory[page] = 7;
  const bool is_locked = ::mlock(memory + page, page) == 0; // a limit may stand against it
  CAPTURE(is_locked);
  CHECK(os::is_mapped(memory, 4 * page));
  CHECK(memory[page] == 7);
  os::unmap(memory + 2 * page, page);
  errno = 42;
  CHECK_FALSE(os::is_mapped(memory, 4 * page));
  CHECK(os::is_mapped(memory, 2 * page));
  CHECK(os::is_mapped(memory + 3 * page, page));
  const int seen = errno;
  CHECK(seen == 42);
  os::unmap(memory, 4 * page);
}

TEST_CASE("pages go back although they are locked in memory") {
  constexpr int also_locked = 24; // MADV_DONTNEED_LOCKED
  const std::size_t page = os::page_bytes();
  auto* const memory = static_cast<unsigned char*>(os::map(4 * page, page));
  REQUIRE(memory != nullptr);
  // Since Linux 5.18. An emulator says yes to all advice.
  constexpr int no_advice = -1;
  const bool is_known =
      ::madvise(memory, page, also_locked) == 0 && ::madvise(memory, page, no_advice) != 0;
  std::memset(memory, 1, 4 * page);
  const bool is_locked = ::mlock(memory + page, page) == 0; // a limit may stand against it
  if (is_known && is_locked) {
    CHECK(os::purge(memory, 4 * page));
    unsigned char resident[4];
    REQUIRE(::mincore(memory, 4 * page, resident) == 0);
    for (const unsigned char each : resident) CHECK((each & 1U) == 0);
    for (std::size_t i = 0; i < 4; ++i) CHECK(memory[i * page] == 0);
  }
  os::unmap(memory, 4 * page);
}

TEST_CASE("pages that move leave nothing where they were, and can be told apart") {
  const std::size_t page = os::page_bytes();
  auto* const memory = static_cast<unsigned char*>(os::quiet_addresses(16 * page, 1 << 16));
  if (memory == nullptr || os::map_at(memory, 16 * page) != os::placed::here) return;
  for (std::size_t each = 0; each < 16; ++each)
    memory[each * page] = static_cast<unsigned char>(each);
  errno = 42;
  const bool tells = os::is_one_mapping(memory, 16 * page);
  if (!tells) { // an emulator on a system with fewer addresses
    os::unmap(memory, 16 * page);
    return;
  }
  CHECK(os::is_one_mapping(memory + page, 3 * page));
  REQUIRE(os::move_pages(memory, memory + 8 * page, 4 * page));
  for (std::size_t each = 0; each < 4; ++each) CHECK(memory[(8 + each) * page] == each);
  CHECK(memory[12 * page] == 12);
  CHECK(contract::in_child([&] { memory[0] = 1; }).exit_code != 0);
  CHECK(os::map_at(memory, 4 * page) == os::placed::here);
  CHECK(memory[0] == 0);
  CHECK(os::is_one_mapping(memory, 8 * page));
  CHECK_FALSE(os::is_one_mapping(memory, 9 * page));
  CHECK_FALSE(os::is_one_mapping(memory + 8 * page, 5 * page));
  CHECK(os::is_one_mapping(memory + 8 * page, 4 * page));
  CHECK(os::renew(memory + 8 * page, 4 * page));
  CHECK(memory[8 * page] == 0);
  CHECK(os::is_one_mapping(memory, 16 * page));
  const int seen = errno;
  CHECK(seen == 42);
  os::unmap(memory, 16 * page);
}

TEST_CASE("refusals and success leave errno alone") {
  errno = 42;
  CHECK(os::map(SIZE_MAX - os::page_bytes() + 1, 1) == nullptr);
  CHECK(os::map(os::page_bytes(), std::size_t{1} << 62) == nullptr);
  os::unmap(os::map(os::page_bytes(), 1), os::page_bytes());
  static_cast<void>(os::random_word());
  CHECK(errno == 42);
}

TEST_CASE("text goes to standard error, whole") {
  const std::string text(100'000, 'x');
  CHECK(contract::in_child([&] { os::write_error(text.data(), text.size()); }).error == text);
}

TEST_CASE("a closed standard error is not a catastrophe") {
  CHECK(contract::in_child([] {
          ::close(2);
          os::write_error("nobody hears", 12);
        }).exit_code == 0);
}

TEST_CASE("memory has a number of its own in every child with a copy of it") {
  const std::uint32_t mine = os::memory_number();
  CHECK(mine != 0);
  CHECK(os::memory_number() == mine);
  std::uint32_t of_thread = 0;
  std::thread{[&] { of_thread = os::memory_number(); }}.join();
  CHECK(of_thread == mine);
  const auto is_new = [](std::uint32_t known) {
    return os::memory_number() != known && os::memory_number() == os::memory_number();
  };
  CHECK(contract::in_child([&] {
          const std::uint32_t of_child = os::memory_number();
          if (!is_new(mine)) ::_exit(1);
          const contract::ending how = contract::in_child([&] {
            if (!is_new(mine) || !is_new(of_child)) ::_exit(1);
          });
          ::_exit(how.exit_code);
        }).exit_code == 0);
  CHECK(os::memory_number() == mine);
}

TEST_CASE("random words differ") { CHECK(os::random_word() != os::random_word()); }

} // namespace
