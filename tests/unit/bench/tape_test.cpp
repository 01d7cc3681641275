#include "workload/tape.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <vector>

#include "workload/replay.hpp"

namespace {

using namespace heapwise::bench;

constexpr const size_mix* all_mixes[] = {&rl_small, &rl_medium, &fragmentation_mix, &alignment64,
                                         &small_and_medium};
constexpr std::size_t many = 200'000;

/// What a tape must keep to, seen by playing it on paper.
struct played {
  std::map<std::uint32_t, std::uint32_t> live; ///< slot to bytes
  std::size_t most_live = 0;
  std::uint64_t allocations = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::size_t peak_at = 0;
  bool sound = true; ///< no slot is filled twice or freed empty, sizes agree

  explicit played(const tape& the_tape) {
    for (std::size_t i = 0; i < the_tape.operations.size(); ++i) play(the_tape.operations[i], i);
  }

  void play(operation each, std::size_t index) {
    if (each.frees()) {
      const auto entry = live.find(each.slot());
      sound = sound && entry != live.end() && entry->second == each.bytes();
      if (entry != live.end()) live.erase(entry);
      live_bytes -= each.bytes();
      return;
    }
    ++allocations;
    sound = live.emplace(each.slot(), each.bytes()).second && sound;
    most_live = std::max(most_live, live.size());
    live_bytes += each.bytes();
    if (live_bytes > peak_bytes) {
      peak_bytes = live_bytes;
      peak_at = index + 1;
    }
  }
};

struct counting_source {
  std::size_t blocks = 0;
  std::size_t allocated_bytes = 0;
  std::size_t freed_bytes = 0;

  void* allocate(std::size_t bytes) {
    ++blocks;
    allocated_bytes += bytes;
    return std::malloc(bytes);
  }
  void deallocate(void* block, std::size_t bytes) {
    REQUIRE(*static_cast<unsigned char*>(block) == 1);
    --blocks;
    freed_bytes += bytes;
    std::free(block);
  }
};

} // namespace

TEST_CASE("the weights of a mix add up to one") {
  for (const size_mix* mix : all_mixes) {
    const double sum = std::accumulate(
        mix->sizes.begin(), mix->sizes.end(), 0.0,
        [](double total, const weighted_size& each) { return total + each.weight; });
    CHECK(sum == doctest::Approx(1));
  }
}

TEST_CASE("an operation is eight bytes") {
  CHECK(sizeof(operation) == 8);
  const auto free_last = operation::release(0x7fff'ffff, 4096);
  CHECK(free_last.frees());
  CHECK(free_last.slot() == 0x7fff'ffff);
  CHECK(free_last.bytes() == 4096);
  CHECK_FALSE(operation::allocation(3, 16).frees());
}

TEST_CASE("a tape frees what it allocated, once, and ends with nothing live") {
  for (const size_mix* mix : all_mixes) {
    CAPTURE(mix->name);
    std::vector<operation> memory(many);
    const tape the_tape = make_tape(memory, *mix, 7);
    const played paper{the_tape};
    CHECK(paper.sound);
    CHECK(paper.live.empty());
    CHECK(the_tape.operations.size() == many);
    CHECK(the_tape.allocations == many / 2);
    CHECK(paper.allocations == many / 2);
    CHECK(the_tape.slots <= mix->most_live);
    CHECK(paper.most_live == mix->most_live);
    CHECK(the_tape.peak_live_bytes == paper.peak_bytes);
    CHECK(the_tape.peak_at == paper.peak_at);
  }
}

TEST_CASE("short tapes end empty too") {
  for (const std::size_t count : {0U, 2U, 4U, 10U, 100U}) {
    std::vector<operation> memory(count);
    const tape the_tape = make_tape(memory, rl_small, 3);
    const played paper{the_tape};
    CHECK(paper.sound);
    CHECK(paper.live.empty());
    CHECK(the_tape.allocations == count / 2);
  }
}

TEST_CASE("sizes come as often as their weights say") {
  for (const size_mix* mix : all_mixes) {
    CAPTURE(mix->name);
    std::vector<operation> memory(many);
    std::map<std::uint32_t, double> seen;
    std::uint64_t requested = 0;
    const tape the_tape = make_tape(memory, *mix, 11);
    for (const operation each : the_tape.operations) {
      if (each.frees()) continue;
      seen[each.bytes()] += 1;
      requested += each.bytes();
    }
    CHECK(seen.size() == mix->sizes.size());
    CHECK(the_tape.requested_bytes == requested);
    double chi_square = 0;
    for (const auto& [bytes, weight] : mix->sizes) {
      const double expected = weight * static_cast<double>(many / 2);
      chi_square += (seen[bytes] - expected) * (seen[bytes] - expected) / expected;
    }
    CHECK(chi_square < 26.2); // 99.9 % of chi-square with 8 degrees of freedom, the most there are
  }
}

TEST_CASE("as long as there is room, allocations come as often as the mix says") {
  std::vector<operation> memory(many);
  const tape the_tape = make_tape(memory, rl_small, 13);
  const auto first = the_tape.operations.first(8000); // climbs by .3 an operation: 2400 of 4096
  const auto frees = std::ranges::count_if(first, &operation::frees);
  CHECK(static_cast<double>(frees) / 8000 == doctest::Approx(.35).epsilon(.06));
}

TEST_CASE("the same seed gives the same tape, another seed another") {
  std::vector<operation> first(1000), second(1000), other(1000);
  (void)make_tape(first, rl_medium, 5);
  (void)make_tape(second, rl_medium, 5);
  (void)make_tape(other, rl_medium, 6);
  CHECK(first == second);
  CHECK(first != other);
}

TEST_CASE("a tape is the same on every machine") {
  std::vector<operation> memory(1000);
  const tape the_tape = make_tape(memory, fragmentation_mix, 1);
  std::uint64_t mixed = 0;
  for (const operation each : the_tape.operations) {
    mixed = mixed * 31 + each.slot() * 8191ULL + each.bytes() + (each.frees() ? 1 : 0);
  }
  CHECK(mixed == 15488326035854914246U); // as first written; a new figure is a new workload
}

TEST_CASE("frees take any live block, not the oldest or the newest") {
  std::vector<operation> memory(many);
  const tape the_tape = make_tape(memory, rl_small, 17);
  std::vector<std::uint64_t> born(the_tape.slots);
  std::uint64_t births = 0;
  double lives = 0, squares = 0, count = 0;
  for (const operation each : the_tape.operations.subspan(many / 2, many / 4)) {
    if (!each.frees()) {
      born[each.slot()] = ++births;
    } else if (born[each.slot()] != 0) {
      const auto life = static_cast<double>(births - born[each.slot()]);
      lives += life;
      squares += life * life;
      count += 1;
    }
  }
  // Lives of random frees are geometric: as spread as they are long (here a little cut off).
  const double mean = lives / count;
  const double deviation = std::sqrt(squares / count - mean * mean);
  CHECK(deviation / mean == doctest::Approx(1).epsilon(.1));
}

TEST_CASE("replay asks for what the tape says and touches each block") {
  std::vector<operation> memory(10'000);
  const tape the_tape = make_tape(memory, rl_medium, 19);
  std::vector<void*> slots(the_tape.slots);
  counting_source source;
  replay(source, the_tape.operations, slots.data());
  CHECK(source.blocks == 0);
  CHECK(source.allocated_bytes == the_tape.requested_bytes);
  CHECK(source.freed_bytes == the_tape.requested_bytes);
}

TEST_CASE("replay can use every byte of a block") {
  /// Hands out memory that is full of a mark, and looks for it when the memory comes back.
  struct marking_source {
    std::size_t untouched = 0;
    std::size_t blocks = 0;
    void* allocate(std::size_t bytes) { return std::memset(new unsigned char[bytes], 0xAA, bytes); }
    void deallocate(void* block, std::size_t bytes) {
      auto* const first = static_cast<unsigned char*>(block);
      untouched += static_cast<std::size_t>(std::count(first, first + bytes, 0xAA));
      ++blocks;
      delete[] first;
    }
  };
  std::vector<operation> memory(1'000);
  const tape the_tape = make_tape(memory, rl_small, 19);
  std::vector<void*> slots(the_tape.slots);
  marking_source all;
  replay<touching::all>(all, the_tape.operations, slots.data());
  CHECK(all.blocks == the_tape.allocations);
  CHECK(all.untouched == 0);
  marking_source write;
  replay<touching::write>(write, the_tape.operations, slots.data());
  CHECK(write.untouched == the_tape.requested_bytes - the_tape.allocations);
}
