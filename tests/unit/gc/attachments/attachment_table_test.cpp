#include "gc/state/attachment_table.hpp"

#include <cstdint>
#include <map>
#include <random>
#include <utility>

#include <doctest/doctest.h>

namespace {

using heapwise::gc::attachment;
using heapwise::gc::attachment_table;

void* address(std::uint64_t number) {
  return reinterpret_cast<void*>(0x7000'0000'0000 + 16 * number);
}

/// Returns: whether the table holds exactly these, with these counts.
bool is_same(attachment_table& table, const std::map<std::uint64_t, std::size_t>& wanted) {
  std::size_t count = 0;
  table.each([&](const attachment&) { ++count; });
  if (count != wanted.size() || table.size() != wanted.size()) return false;
  for (const auto& [number, keepers] : wanted) {
    const attachment* const entry = table.find(address(number));
    if (entry == nullptr || entry->keepers != keepers) return false;
    if (entry->block() != address(number)) return false;
  }
  return true;
}

} // namespace

TEST_CASE("an attachment table holds what was added and not removed") {
  attachment_table table;
  std::map<std::uint64_t, std::size_t> wanted;
  std::mt19937_64 random{1};
  for (std::size_t step = 0; step < 30'000; ++step) {
    const std::uint64_t number = random() % 3000;
    if (random() % 5 < 3) {
      table.find_or_add(address(number))->keepers = step;
      wanted[number] = step;
    } else if (wanted.erase(number) > 0) {
      table.remove(table.find(address(number)));
    } else {
      REQUIRE(table.find(address(number)) == nullptr);
    }
    if (step % 1000 == 0) REQUIRE(is_same(table, wanted));
  }
  CHECK(is_same(table, wanted));
}

TEST_CASE("attachments are removed by a condition, each is asked about") {
  std::mt19937_64 random{2};
  for (int round = 0; round < 200; ++round) {
    attachment_table table;
    std::map<std::uint64_t, std::size_t> wanted;
    for (std::size_t each = 0; each < 160; ++each) { // of 341 places at most: many are pushed on
      const std::uint64_t number = random() % 100'000;
      table.find_or_add(address(number))->keepers = each;
      wanted[number] = each;
    }
    table.remove_if([](const attachment& each) { return each.keepers % 2 == 0; });
    std::erase_if(wanted, [](const auto& each) { return each.second % 2 == 0; });
    REQUIRE(is_same(table, wanted));
  }
}
