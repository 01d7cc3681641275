#include "heap/space/space.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "heapwise/detail/heap_cache.hpp"
#include "os/os.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heapwise::detail;

namespace os = heapwise::os;

struct mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Returns: the mapping that an address is in, as the system describes it.
mapping mapping_of(const void* address) {
  std::ifstream lines{"/proc/self/maps"};
  for (std::string line; std::getline(lines, line);) {
    std::size_t length = 0;
    const std::uintptr_t begin = std::stoull(line, &length, 16);
    const std::uintptr_t end = std::stoull(line.substr(length + 1), nullptr, 16);
    if (reinterpret_cast<std::uintptr_t>(address) - begin < end - begin) return {begin, end};
  }
  return {};
}

/// A space beside the heap's: the map that all of them share is the heap's again at the end.
class a_space {
 public:
  a_space() { REQUIRE(made_.start()); }
  ~a_space() {
    the_facts.map = heap_;
    // The next space may begin anywhere, and must not find these in its way.
    os::unmap(made_.address_of(0), made_.committed_slices() * slice_bytes + os::page_bytes());
  }
  a_space(const a_space&) = delete;
  a_space& operator=(const a_space&) = delete;

  space* operator->() { return &made_; }
  space& operator*() { return made_; }

  /// Returns: the number of the first slice taken.
  slice_index take(std::size_t count, std::size_t alignment = 1) {
    last = made_.take(count, alignment, was_clean);
    REQUIRE(last != nullptr);
    CHECK(last->slices == count);
    last->use.store(slice_use::small);
    return made_.index_of(*last);
  }
  void give(slice_index first, std::size_t kept = 0, bool clean = false) {
    made_.give(*made_.record(first), kept, clean);
  }
  [[nodiscard]] std::size_t dirty() const { return made_.dirty_bytes() / slice_bytes; }
  [[nodiscard]] std::size_t used() const { return made_.used_bytes() / slice_bytes; }

  span* last = nullptr;
  bool was_clean = false;

 private:
  heap_map heap_ = the_facts.map;
  space made_;
};

TEST_CASE("the lowest place that is long enough is taken") {
  a_space some;
  for (slice_index at = 0; at < 70; ++at) REQUIRE(some.take(1) == at);
  some.give(3);
  some.give(10);
  some.give(11);
  some.give(63);
  some.give(64);
  some.give(65);
  CHECK(some.take(3) == 63);
  CHECK(some.take(2) == 10);
  CHECK(some.take(2) == 70);
  CHECK(some.take(1) == 3);
  CHECK(some.take(1) == 72);
}

TEST_CASE("alignment is of the address, and what is passed over is used by others") {
  a_space some;
  CHECK(some.take(1) == 0);
  const slice_index first = some.take(3, 16);
  CHECK(reinterpret_cast<std::uintptr_t>(some->begin_of(*some.last)) % (16 * slice_bytes) == 0);
  CHECK(first > 0);
  const slice_index second = some.take(1, 16);
  CHECK(reinterpret_cast<std::uintptr_t>(some->begin_of(*some.last)) % (16 * slice_bytes) == 0);
  CHECK(second == first + 16);
  for (slice_index at = 1; at < first; ++at) CHECK(some.take(1) == at);
  CHECK(some.take(1) == first + 3);
}

TEST_CASE("a span grows at its place only into free slices") {
  a_space some;
  const slice_index grown = some.take(2);
  span& record = *some.last;
  const slice_index behind = some.take(1);
  CHECK_FALSE(some->extend(record, 3));
  CHECK(record.slices == 2);
  some.give(behind);
  CHECK(some->extend(record, 3));
  CHECK(record.slices == 3);
  CHECK(some.used() == 3);
  CHECK(some.dirty() == 0); // what was dirty is used
  const slice_index next = some.take(1);
  CHECK(next == grown + 3);
  some.give(next);
  CHECK(some->extend(record, 500)); // past what was usable so far
  CHECK(some->committed_slices() >= 500);
  std::memset(some->begin_of(record), 1, 500 * slice_bytes);
  CHECK_FALSE(some->extend(record, some->reserved_bytes() / slice_bytes + 1));
  CHECK(some.used() == 500);
}

TEST_CASE("the end of a span is given, and its beginning stays in use") {
  a_space some;
  const slice_index first = some.take(100);
  some.give(first, 30);
  CHECK(some->record(first)->slices == 30);
  CHECK(some->record(first)->use.load() == slice_use::small);
  CHECK(some.used() == 30);
  CHECK(some.dirty() == 70);
  CHECK(some.take(70) == first + 30);
  CHECK(some.dirty() == 0);
  some.give(first + 30);
  some.give(first);
  CHECK(some->record(first)->use.load() == slice_use::none);
  CHECK(some.used() == 0);
  CHECK(some.dirty() == 100);
}

TEST_CASE("clean means that every slice of it reads as zero") {
  a_space some;
  const slice_index first = some.take(4);
  CHECK(some.was_clean);
  std::memset(some->begin_of(*some.last), 7, 4 * slice_bytes);
  some.give(first, 1); // three are dirty
  some.give(some.take(1), 0, true);
  some.give(first);
  some.take(1);
  CHECK_FALSE(some.was_clean);
  some.take(1);
  CHECK(some.was_clean); // given back as clean
  some.take(2);
  CHECK_FALSE(some.was_clean);
  some.take(2);
  CHECK(some.was_clean); // never used
}

TEST_CASE("pages go back when they are old enough, and then read as zero") {
  a_space some;
  const slice_index early = some.take(3);
  std::byte* const bytes = some->begin_of(*some.last);
  std::memset(bytes, 7, 3 * slice_bytes);
  const slice_index between = some.take(1);
  const slice_index late = some.take(2);
  std::memset(some->begin_of(*some.last), 7, 2 * slice_bytes);
  some.give(early);
  some->tick();
  some.give(late);
  CHECK(some->purge(2) == 0);
  some->tick();
  CHECK(some->purge(2) == 3 * slice_bytes);
  CHECK(some.dirty() == 2);
  CHECK(some->purge(2) == 0);
  CHECK(bytes[0] == std::byte{0});
  CHECK(bytes[3 * slice_bytes - 1] == std::byte{0});
  CHECK(some->purge(0) == 2 * slice_bytes);
  CHECK(some.dirty() == 0);
  CHECK(some.used() == 1);
  some.take(3);
  CHECK(some.was_clean);
  some.give(between);
}

TEST_CASE("the clock's hand goes round: ages are right past 255 ticks") {
  a_space some;
  for (int i = 0; i < 255; ++i) some->tick();
  some.give(some.take(1));
  some->tick();
  CHECK(some->purge(2) == 0);
  some->tick();
  CHECK(some->purge(2) == slice_bytes);
}

TEST_CASE("more than is given back in one step goes back too, and only what is free") {
  a_space some;
  constexpr std::size_t count = 1000;
  const slice_index first = some.take(count);
  std::byte* const begin = some->begin_of(*some.last);
  for (std::size_t at = 0; at < count; ++at) begin[at * slice_bytes] = std::byte{9};
  some.give(first);
  std::vector<slice_index> kept;
  for (std::size_t at = 0; at < count; ++at) {
    const slice_index one = some.take(1);
    if (at % 100 == 50) kept.push_back(one);
  }
  std::size_t number = 0;
  for (slice_index at = first; at < first + count; ++at) {
    if (number < kept.size() && kept[number] == at) {
      ++number;
      continue;
    }
    some.give(at);
  }
  CHECK(some->purge(0) == (count - kept.size()) * slice_bytes);
  for (const slice_index at : kept) CHECK(*some->address_of(at) == std::byte{9});
  CHECK(some.used() == kept.size());
  CHECK(some.dirty() == 0);
}

TEST_CASE("a range that is freed or searched by parts is freed or searched as a whole") {
  a_space some;
  constexpr std::size_t count = 20'000;
  const slice_index first = some.take(count);
  for (std::size_t at = 0; at < count; at += 1000) *some->address_of(first + at) = std::byte{1};
  const slice_index far = some.take(300'000); // more than one search looks at
  some.give(first, 3);
  CHECK(some.dirty() == count - 3);
  CHECK(some->is_sound());
  CHECK(some.take(count - 3) == first + 3); // one run
  some->zero(*some.last, (count - 3) * slice_bytes);
  for (std::size_t at = 1000; at < count; at += 1000) {
    REQUIRE(*some->address_of(first + at) == std::byte{0});
  }
  some.give(first + 3, 0, true);
  some.give(far, 299'000);
  CHECK(some->purge(0) == 1000 * slice_bytes);
  CHECK(some->is_sound());
}

TEST_CASE("slices become usable in steps, ahead of what is asked for") {
  a_space some;
  CHECK(some->committed_slices() == 0);
  CHECK(some->record(0) == nullptr);
  some.take(1);
  const std::size_t step = some->committed_slices();
  CHECK(step > 1);
  CHECK(some->record(step - 1) != nullptr);
  CHECK(some->record(step) == nullptr);
  for (std::size_t at = 1; at < step; ++at) some.take(1);
  CHECK(some->committed_slices() == step);
  some.take(3 * step);
  CHECK(some->committed_slices() >= 4 * step);
  std::memset(some->begin_of(*some.last), 1, 3 * step * slice_bytes);
  CHECK(some->metadata_bytes() > 0);
}

TEST_CASE("more than there are addresses for is refused, and nothing changes") {
  a_space some;
  const std::size_t all = some->reserved_bytes() / slice_bytes;
  CHECK(some->take(all + 1, 1, some.was_clean) == nullptr);
  some.take(1);
  CHECK(some->take(all, 1, some.was_clean) == nullptr);
  CHECK(some->take(1, std::size_t{1} << 47, some.was_clean) == nullptr);
  CHECK(some.used() == 1);
  CHECK(some.take(1) == 1);
}

/// Returns: whether the heap maps only what it uses: then all that it uses is one mapping.
bool maps_as_it_grows(space& some) {
  return os::map_at(some.address_of(some.committed_slices() + 1000), slice_bytes) ==
         os::placed::here;
}

TEST_CASE("only what is used is mapped, as one mapping, however often the heap grows") {
  a_space some;
  some.take(1);
  std::byte* const begin = some->begin_of(*some.last);
  std::memset(begin, 1, slice_bytes);
  for (int i = 0; i < 300; ++i) {
    some.take(20);
    std::memset(some->begin_of(*some.last), 1, 100);
  }
  if (!maps_as_it_grows(*some)) return; // a system on which all of it has to be reserved
  const std::size_t committed = some->committed_slices();
  CHECK(committed < 6001 * 17 / 16 + 64);
  const mapping range = mapping_of(begin);
  CHECK(range.begin == reinterpret_cast<std::uintptr_t>(begin));
  CHECK(range.end ==
        reinterpret_cast<std::uintptr_t>(some->address_of(committed) + os::page_bytes()));
}

/// Returns: the bytes of addresses that the process uses.
std::size_t mapped_bytes() {
  std::size_t pages = 0;
  std::ifstream{"/proc/self/statm"} >> pages;
  return pages * os::page_bytes();
}

TEST_CASE("tables use few addresses until they are needed") {
  const std::size_t before = mapped_bytes();
  a_space some;
  some.take(1);
  std::byte* const first = some->begin_of(*some.last);
  if (!maps_as_it_grows(*some)) return;
  // A byte and two bits for each slice that there may be, and 4 MiB of slices.
  CHECK(mapped_bytes() - before < (std::size_t{25} << 20) + slice_bytes);
  CHECK(mapping_of(&some->granule_class(first)).end == 0);
  some.take(200);
  const std::size_t without = mapped_bytes();
  REQUIRE(some->allow_mixing());
  some->granule_class(some->begin_of(*some.last)).store(1);
  const std::size_t classes = mapped_bytes() - without;
  CHECK(classes >= some->committed_slices() * granules_of_a_slice);
  CHECK(classes <= (some->committed_slices() + 1) * granules_of_a_slice);
  some.take(some->committed_slices()); // the table grows with the heap from now on
  some->granule_class(some->begin_of(*some.last)).store(1);
  some.give(some->index_of(*some.last));
  CHECK(some->purge(0) > 0);
  CHECK(some->granule_class(some->address_of(some->committed_slices() - 2)).load() == 0);
}

TEST_CASE("the tables of bytes are usable far ahead of the slices") {
  a_space some;
  some.take(1);
  const mapping classes = mapping_of(&the_facts.map.class_of_slice(0));
  CHECK(classes.end - classes.begin >= 65536);
  some.take(65536 - 100); // 4 GiB
  CHECK(mapping_of(&the_facts.map.class_of_slice(0)).end == classes.end);
}

TEST_CASE("mappings of others in the range are left alone and passed over") {
  a_space some;
  some.take(1);
  const std::size_t committed = some->committed_slices();
  if (!maps_as_it_grows(*some)) return;
  std::byte* const foreign = some->address_of(committed + 5);
  REQUIRE(os::map_at(foreign, 3 * slice_bytes) == os::placed::here);
  std::memset(foreign, 7, 3 * slice_bytes);
  // One that would lie over it, then one by one.
  const slice_index large = some.take(committed + 20);
  CHECK(large == committed + 8);
  CHECK(some.was_clean);
  std::memset(some->begin_of(*some.last), 1, (committed + 20) * slice_bytes);
  for (slice_index at = 1; at < committed + 5; ++at) REQUIRE(some.take(1) == at);
  CHECK(some.take(1) == committed + 8 + committed + 20);
  some.give(large);
  CHECK(some->purge(0) == (committed + 20) * slice_bytes);
  for (std::size_t at = 0; at < 3 * slice_bytes; at += 512) {
    REQUIRE(foreign[at] == std::byte{7});
  }
  CHECK(some->record(committed + 6) != nullptr); // the thread that frees an address in it is told
  CHECK(some->record(committed + 6)->use.load() == slice_use::none);
}

TEST_CASE("a span grows up to what somebody else has mapped") {
  a_space some;
  some.take(1);
  span& grown = *some.last;
  const std::size_t committed = some->committed_slices();
  if (!maps_as_it_grows(*some)) return;
  REQUIRE(os::map_at(some->address_of(committed + 5), slice_bytes) == os::placed::here);
  CHECK_FALSE(some->extend(grown, committed + 6));
  CHECK(grown.slices == 1);
  CHECK(some->extend(grown, committed + 5));
  std::memset(some->begin_of(grown), 1, (committed + 5) * slice_bytes);
}

TEST_CASE("the slices are as aligned as the largest alignment inside of one") {
  a_space some;
  CHECK(reinterpret_cast<std::uintptr_t>(some->address_of(0)) % slice_bytes == 0);
}

TEST_CASE("an address outside of the range is not held") {
  a_space some;
  some.take(1);
  const std::byte* const begin = some->begin_of(*some.last);
  CHECK(some->holds(begin));
  CHECK(some->holds(begin + some->reserved_bytes() - 1));
  CHECK_FALSE(some->holds(begin - 1));
  CHECK_FALSE(some->holds(begin + some->reserved_bytes()));
  CHECK_FALSE(some->holds(nullptr));
}

TEST_CASE("classes are written for every slice of a span, and found by every address in it") {
  a_space some;
  some.take(1);
  some.take(4);
  span& wide = *some.last;
  for (std::uint32_t at = 1; at < 4; ++at) {
    (&wide)[at].slices = at;
    (&wide)[at].use.store(slice_use::inside);
  }
  some.take(1);
  some->set_class(wide, 9);
  const std::byte* const begin = some->begin_of(wide);
  CHECK(the_facts.map.class_at(begin - granule_bytes) == no_class);
  CHECK(the_facts.map.class_at(begin) == 9);
  CHECK(the_facts.map.class_at(begin + 4 * slice_bytes - granule_bytes) == 9);
  CHECK(the_facts.map.class_at(begin + 4 * slice_bytes) == no_class);
  CHECK(&some->span_at(begin + 3 * slice_bytes + 5) == &wide);
  CHECK(&some->span_at(begin) == &wide);
}

/// What a space should say, with a note for each slice.
struct notes {
  enum slice : std::uint8_t { clean, dirty, used };
  std::vector<slice> slices = std::vector<slice>(8192, clean);
  std::array<std::size_t, 3> counts{8192, 0, 0}; // of each kind

  void set(slice_index at, slice what) {
    --counts[slices[at]];
    ++counts[what];
    slices[at] = what;
  }

  [[nodiscard]] slice_index place(std::size_t count) const {
    std::size_t run = 0;
    for (slice_index at = 0;; ++at) {
      run = slices[at] == used ? 0 : run + 1;
      if (run == count) return at + 1 - count;
    }
  }
};

TEST_CASE("a long random history agrees with notes taken slice by slice") {
  a_space some;
  notes expected;
  stress::random draw{7};
  std::vector<std::pair<slice_index, std::size_t>> spans;
  for (int step = 0; step < 5'000; ++step) {
    if (spans.empty() || (draw.below(2) == 0 && some.used() < 3000)) {
      const std::size_t count = 1 + draw.below(draw.below(8) == 0 ? 100 : 5);
      const slice_index place = expected.place(count);
      bool clean = true;
      for (slice_index at = place; at < place + count; ++at) {
        clean = clean && expected.slices[at] == notes::clean;
        expected.set(at, notes::used);
      }
      REQUIRE(some.take(count) == place);
      REQUIRE(some.was_clean == clean);
      spans.emplace_back(place, count);
    } else {
      std::swap(spans[draw.below(spans.size())], spans.back());
      auto& [first, count] = spans.back();
      const std::size_t kept = draw.below(3) == 0 ? draw.below(count) : 0;
      const bool clean = draw.below(4) == 0;
      some.give(first, kept, clean);
      for (slice_index at = first + kept; at < first + count; ++at) {
        expected.set(at, clean ? notes::clean : notes::dirty);
      }
      count = kept;
      if (kept == 0) spans.pop_back();
    }
    if (draw.below(200) == 0) {
      REQUIRE(some->purge(0) == expected.counts[notes::dirty] * slice_bytes);
      for (slice_index at = 0; at < expected.slices.size(); ++at) {
        if (expected.slices[at] == notes::dirty) expected.set(at, notes::clean);
      }
    }
    REQUIRE(some.used() == expected.counts[notes::used]);
    if (step % 16 == 0) REQUIRE(some->is_sound());
    REQUIRE(some.dirty() == expected.counts[notes::dirty]);
  }
}

} // namespace
