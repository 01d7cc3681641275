#include "drain/calls/resolver.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "drain/rings/ring_reader.hpp"
#include "trace/stamp.hpp"

using namespace heapwise::bench;

namespace {

constexpr std::uint64_t address = 0x5555'0000'1000;

/// A resolver whose file nobody reads.
class trace {
 public:
  trace() {
    REQUIRE(file_.begin("{}"));
    unlink(path_.c_str());
  }

  void take(event_kind kind, std::uint32_t thread, std::uint64_t stamp) {
    const call next{stamp, address, 64, 0, thread, 0, kind, 0};
    calls_.take(next);
  }

  [[nodiscard]] resolver& calls() { return calls_; }

 private:
  [[nodiscard]] static std::string new_path() {
    std::string path = "/tmp/heapwise-resolver-XXXXXX";
    close(mkstemp(path.data()));
    return path;
  }

  std::string path_ = new_path();
  size_budget budget_{1U << 22};
  frame_compressor compressor_;
  trace_writer file_{path_, budget_, compressor_};
  call_sites sites_;
  call_stacks stacks_;
  resolver calls_{file_, sites_, stacks_, 0, 0};
};

/// Keeps the calls of a ring.
class taken_calls {
 public:
  void take(const call& next) { all_.push_back(next); }
  void take_inlined(const call& next) { all_.push_back(next); }
  [[nodiscard]] bool is_far() const noexcept { return true; }
  void prefetch(std::uint64_t) const noexcept {}

  [[nodiscard]] const call& operator[](std::size_t number) const { return all_[number]; }
  void clear() { all_.clear(); }

 private:
  std::vector<call> all_;
};

} // namespace

TEST_CASE("an address that another thread gets before its end is stamped keeps its own end") {
  trace all;
  all.take(event_kind::malloc, 0, 1000);
  all.take(event_kind::malloc, 1, 5000);
  all.take(event_kind::free, 0, 5000 + stamp_slack / 2); // of the first block
  CHECK(all.calls().live_count() == 1);
  all.take(event_kind::free, 1, 9000);
  CHECK(all.calls().live_count() == 0);
  all.calls().give_up_waiting(UINT64_MAX);
  CHECK(all.calls().totals().lost_ends == 0);
  CHECK(all.calls().totals().unknown_ends == 0);
}

TEST_CASE("an end of another thread that is stamped before its block ends it") {
  trace all;
  all.take(event_kind::free, 1, 5000);
  all.take(event_kind::malloc, 0, 5000 + stamp_slack / 2);
  CHECK(all.calls().live_count() == 0);
  all.calls().give_up_waiting(UINT64_MAX);
  CHECK(all.calls().totals().unknown_ends == 0);
}

TEST_CASE("an end of the same thread is never of a block to come") {
  trace all;
  all.take(event_kind::free, 0, 5000);
  all.take(event_kind::malloc, 0, 5001);
  CHECK(all.calls().live_count() == 1);
  all.calls().give_up_waiting(UINT64_MAX);
  CHECK(all.calls().totals().unknown_ends == 1);
}

TEST_CASE("an address that is given out many times without an end holds one block") {
  trace all;
  for (std::uint64_t number = 0; number != 100; ++number)
    all.take(event_kind::malloc, 0, 1000 + number);
  all.calls().give_up_waiting(UINT64_MAX);
  const recording_totals totals = all.calls().totals();
  CHECK(totals.lost_ends == 99);
  CHECK(totals.end_live_blocks == 1);
  CHECK(totals.end_live_bytes * 100 == totals.bytes);
}

TEST_CASE("a ring says what does not fit into 16 bytes before the call") {
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  constexpr std::uint64_t large = std::uint64_t{1} << 33;
  static event ring[ring_events] = {
      {event::pack_head(event_kind::stamp, 0, 0), far},
      {event::pack_head(event_kind::site, 7, 0xABCD), 0},
      {event::pack_head(event_kind::free, 7, address), event::pack_body(far, 0)},
      {event::pack_head(event_kind::wide, 12, 0), large},
      {event::pack_head(event_kind::stack, 2, 0xABCD), 0x1234},
      {event::pack_head(event_kind::aligned, 7, address), event::pack_body(far - 5, UINT32_MAX)},
      {event::pack_head(event_kind::free, 7, address), event::pack_body(far + 9, 0)},
  };
  call_sites sites;
  call_stacks stacks;
  const std::uint32_t first = sites.number_of(0x1111);
  ring_reader reader;
  reader.begin(ring, 3);
  reader.advance(7, sites);
  taken_calls calls;
  REQUIRE(reader.take(calls, 4, 7, UINT64_MAX, sites, stacks) == 3);
  CHECK(calls[0].stamp == far);
  CHECK(calls[0].site == first + 1);
  CHECK(calls[0].thread == 3);
  CHECK(calls[1].stamp == far - 5);
  CHECK(calls[1].size == large);
  CHECK(calls[1].alignment_log == 12);
  CHECK(stacks.take(calls[1].stack) == std::vector<std::uint64_t>{0xABCD, 0x1234});
  CHECK(calls[2].stamp == far + 9);
  CHECK(calls[2].alignment_log == 0);
  CHECK(calls[2].stack == 0);
  CHECK_FALSE(reader.has_next());
}

TEST_CASE("a ring gives the calls up to a stamp, and keeps the others") {
  static event ring[ring_events] = {};
  constexpr std::uint64_t count = 10;
  for (std::uint64_t i = 0; i < count; ++i) {
    const event_kind kind = i % 2 == 0 ? event_kind::malloc : event_kind::free;
    ring[i] = {event::pack_head(kind, 0, address + i), event::pack_body(100 + i, i)};
  }
  call_sites sites;
  call_stacks stacks;
  ring_reader reader;
  reader.begin(ring, 0);
  reader.advance(count, sites);
  taken_calls calls;
  constexpr std::uint64_t last = 103 << 1; // the end of a block with this stamp, see call::order_of
  REQUIRE(reader.take(calls, count, count, last, sites, stacks) == 4);
  for (std::uint64_t i = 0; i < 4; ++i) {
    CHECK(calls[i].stamp == 100 + i);
    CHECK(calls[i].address == address + i);
    CHECK(calls[i].size == i);
  }
  CHECK(reader.has_next());
  CHECK((reader.next_order() >> 1) == 104);
  calls.clear();
  REQUIRE(reader.take(calls, 3, count, UINT64_MAX, sites, stacks) == 3);
  CHECK(calls[2].stamp == 106);
  calls.clear();
  REQUIRE(reader.take(calls, count, count, UINT64_MAX, sites, stacks) == 3);
  CHECK(calls[2].stamp == 109);
  CHECK_FALSE(reader.has_next());
}
