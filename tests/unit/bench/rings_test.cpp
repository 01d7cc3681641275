// Threads write into the rings as the recorder does, and the drain is compared with a search for
// the earliest call of all.
#include "drain/rings/rings.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "trace/stamp.hpp"

using namespace heapwise::bench;

namespace {

constexpr std::uint64_t some_address = 0x5555'0000'1000;

/// A call, and what the drain is to make of it.
struct known_call {
  std::uint64_t stamp;
  event_kind kind;
  std::uint64_t address;
  std::uint64_t size;
  std::uint8_t alignment_log;
  std::vector<std::uint64_t> stack;

  [[nodiscard]] std::uint64_t order() const noexcept {
    return std::min(call::order_of(stamp, kind), loser_tree::most_order);
  }
};

/// A thread of a recorded process, with the ring of the slot of its number.
class written_ring {
 public:
  written_ring(rings& all, unsigned slot) : slot_{all.memory().slots[slot]} {
    void* mapping = mmap(nullptr, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, all.file(),
                         static_cast<off_t>(slot_offset(all.memory(), slot) + page_bytes));
    REQUIRE(mapping != MAP_FAILED);
    ring_ = static_cast<event*>(mapping);
    slot_.process.store(1);
  }
  ~written_ring() { munmap(ring_, ring_bytes); }
  written_ring(const written_ring&) = delete;
  written_ring& operator=(const written_ring&) = delete;

  void write(const known_call& next) {
    if (!event::is_near(next.stamp, last_stamp_)) put(event_kind::stamp, 0, 0, next.stamp);
    last_stamp_ = next.stamp;
    if (next.alignment_log != 0) put(event_kind::wide, next.alignment_log, 0, next.size);
    if (!next.stack.empty()) put(event_kind::stack, 1, next.stack.front(), 0);
    put(next.kind, 0, next.address, event::pack_body(next.stamp, next.size));
    calls_.push_back(next);
  }

  /// The first call that expect() has not passed, or null.
  [[nodiscard]] const known_call* next() const {
    return passed_ != calls_.size() ? &calls_[passed_] : nullptr;
  }
  void pass() { ++passed_; }

  [[nodiscard]] std::uint64_t unread() const { return slot_.written.load() - slot_.read.load(); }

 private:
  void put(event_kind kind, std::uint64_t place, std::uint64_t address, std::uint64_t body) {
    REQUIRE(unread() < ring_events);
    ring_[slot_.written.load() % ring_events] = {event::pack_head(kind, place, address), body};
    slot_.written.fetch_add(1);
  }

  thread_slot& slot_;
  event* ring_;
  std::uint64_t last_stamp_ = 0;
  std::vector<known_call> calls_;
  std::size_t passed_ = 0;
};

/// Checks each call when it is handed over.
class checked_calls {
 public:
  checked_calls(std::vector<written_ring*> written, call_stacks& stacks)
      : written_{std::move(written)}, stacks_{stacks} {}

  void take(const call& next) {
    written_ring* first = nullptr;
    std::uint64_t first_order = 0;
    for (written_ring* each : written_) {
      const known_call* const candidate = each->next();
      if (candidate == nullptr) continue;
      const std::uint64_t order = candidate->order();
      if (first != nullptr && order >= first_order) continue;
      first = each;
      first_order = order;
    }
    if (first == nullptr) FAIL("a call that no thread has written");
    const known_call& wanted = *first->next();
    // Checks of doctest would take longer than all else: there are half a million calls.
    if (wanted.order() > last_order_ || !are_equal(next, wanted)) {
      CHECK(wanted.order() <= last_order_);
      CHECK(next.stamp == wanted.stamp);
      CHECK(next.kind == wanted.kind);
      CHECK(next.address == wanted.address);
      CHECK(next.size == wanted.size);
      CHECK(next.alignment_log == wanted.alignment_log);
      FAIL("another call was expected, or another stack");
    }
    first->pass();
    ++count_;
  }
  void take_inlined(const call& next) { take(next); }
  [[nodiscard]] bool is_far() const noexcept { return count_ % 2 == 0; }
  void prefetch(std::uint64_t) const noexcept {}

  void expect_up_to(std::uint64_t order) noexcept { last_order_ = order; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  [[nodiscard]] bool are_equal(const call& next, const known_call& wanted) const {
    return next.stamp == wanted.stamp && next.kind == wanted.kind &&
           next.address == wanted.address && next.size == wanted.size &&
           next.alignment_log == wanted.alignment_log &&
           (next.stack != 0 ? stacks_.take(next.stack) == wanted.stack : wanted.stack.empty());
  }

  std::uint64_t last_order_ = 0;
  std::vector<written_ring*> written_;
  call_stacks& stacks_;
  std::uint64_t count_ = 0;
};

/// Threads with a common clock.
class recorded_threads {
 public:
  recorded_threads(unsigned count, std::uint64_t seed) : random_{seed} {
    REQUIRE(all_.ok());
    all_.memory().slots_used.store(count);
    std::vector<written_ring*> each;
    for (unsigned slot = 0; slot != count; ++slot) {
      written_.push_back(std::make_unique<written_ring>(all_, slot));
      each.push_back(written_.back().get());
    }
    calls_ = std::make_unique<checked_calls>(each, tables_.stacks);
  }

  /// A run of calls of one thread. Many stamps are equal, some go back, and some are far away.
  void write_run(std::uint64_t most_calls) {
    written_ring& chosen = *written_[random_() % written_.size()];
    for (std::uint64_t left = 1 + random_() % most_calls; left != 0; --left) {
      clock_ += random_() % 3;
      const std::uint64_t rare = random_() % 1000;
      if (rare == 0) clock_ += std::uint64_t{1} << (20 + random_() % 34);
      const bool ends = random_() % 2 == 0;
      known_call next{clock_ - (rare < 20 ? random_() % 5 : 0),
                      ends ? event_kind::free : event_kind::malloc,
                      some_address + 16 * (random_() % 4096),
                      random_() % 512,
                      0,
                      {}};
      if (!ends && rare < 100) next.alignment_log = 6;
      if (!ends && rare % 16 == 1) next.stack = {random_() >> 16};
      chosen.write(next);
    }
  }

  /// Hands over what is not younger than `horizon`, and checks that nothing older is left.
  void drain(std::uint64_t horizon) {
    all_.look();
    calls_->expect_up_to(horizon == UINT64_MAX ? horizon : horizon * 2);
    const std::uint64_t before = calls_->count();
    const std::uint64_t taken = all_.drain(0, tables_, horizon, *calls_);
    CHECK(taken == calls_->count() - before);
    for (const auto& each : written_) {
      const known_call* left = each->next();
      if (horizon == UINT64_MAX) {
        REQUIRE(left == nullptr);
        CHECK(each->unread() == 0);
      } else if (left != nullptr) {
        CHECK(left->order() > horizon * 2);
      }
    }
  }

  [[nodiscard]] std::uint64_t clock() const noexcept { return clock_; }
  [[nodiscard]] std::uint64_t random() { return random_(); }

 private:
  rings all_{0};
  call_tables tables_;
  std::vector<std::unique_ptr<written_ring>> written_;
  std::unique_ptr<checked_calls> calls_;
  std::mt19937_64 random_;
  std::uint64_t clock_ = 1'000'000;
};

} // namespace

TEST_CASE("the calls of threads that take turns or run for long come in the order of stamps") {
  std::uint64_t seed = 0;
  for (const unsigned threads : {1U, 2U, 3U, 8U, 9U, 40U}) {
    for (const std::uint64_t run : {1U, 2U, 5U, 30U, 400U}) {
      recorded_threads all{threads, ++seed};
      for (int pass = 0; pass != 10; ++pass) {
        for (int i = 0; i != 40; ++i) all.write_run(run);
        all.drain(all.clock() - all.random() % 100);
      }
      all.drain(UINT64_MAX);
    }
  }
}

TEST_CASE("a ring whose calls are drained by turns is free again before all of them are read") {
  // One thread has more calls than the other ring has in the same time.
  rings all{0};
  REQUIRE(all.ok());
  all.memory().slots_used.store(2);
  written_ring one{all, 0};
  written_ring other{all, 1};
  constexpr std::uint64_t count = 2000;
  for (std::uint64_t i = 0; i != count; ++i) {
    one.write({1000 + 2 * i, event_kind::malloc, some_address, 8, 0, {}});
    other.write({1001 + 2 * i, event_kind::malloc, some_address, 8, 0, {}});
  }
  /// Notes how much of the first ring was free when most calls were handed over.
  struct {
    written_ring* ring;
    std::uint64_t taken = 0;
    std::uint64_t unread = 0;
    void take(const call&) {}
    void take_inlined(const call&) {
      if (++taken == 2 * count - 10) unread = ring->unread();
    }
    [[nodiscard]] bool is_far() const noexcept { return false; }
    void prefetch(std::uint64_t) const noexcept {}
  } taker{&one};
  call_tables tables;
  all.look();
  CHECK(all.drain(0, tables, UINT64_MAX, taker) == 2 * count);
  CHECK(taker.unread < 300);
  CHECK(one.unread() == 0);
}

TEST_CASE("a thread whose ring is full is woken when half of it is read") {
  rings all{0};
  REQUIRE(all.ok());
  all.memory().slots_used.store(1);
  written_ring full{all, 0};
  for (std::uint64_t i = 0; i != ring_events; ++i) {
    full.write({1000 + i, event_kind::malloc, some_address, 8, 0, {}});
  }
  thread_slot& slot = all.memory().slots[0];
  constexpr long hour_ns = 3'600'000'000'000;
  std::thread waiting{[&] {
    constexpr std::uint64_t enough = ring_events / 2;
    while (slot.read.load() < enough) slot.room.wait(slot.read, enough, hour_ns);
  }};
  while (!slot.room.is_waited_for()) std::this_thread::yield();
  /// Notes how much was unread when the thread was woken, if it was not looking just then.
  struct {
    const thread_slot* slot;
    std::uint64_t unread = 0;
    void take(const call&) { take_inlined({}); }
    void take_inlined(const call&) {
      if (unread == 0 && slot->room.calls() != 0) unread = ring_events - slot->read.load();
    }
    [[nodiscard]] bool is_far() const noexcept { return false; }
    void prefetch(std::uint64_t) const noexcept {}
  } taker{&slot};
  call_tables tables;
  all.look();
  CHECK(all.drain(0, tables, UINT64_MAX, taker) == ring_events);
  waiting.join();
  CHECK(taker.unread <= ring_events / 2);
}

TEST_CASE("a ring whose stamps are below 0 is read to its end") {
  rings all{0};
  REQUIRE(all.ok());
  all.memory().slots_used.store(1);
  written_ring one{all, 0};
  constexpr std::uint64_t count = 20;
  for (std::uint64_t i = 0; i != count; ++i) {
    one.write({UINT64_MAX - 5000 + i, event_kind::malloc, some_address, 8, 0, {}});
  }
  call_tables tables;
  checked_calls calls{{&one}, tables.stacks};
  calls.expect_up_to(UINT64_MAX);
  all.look();
  CHECK(all.drain(0, tables, UINT64_MAX, calls) == count);
  CHECK(one.unread() == 0);
}

TEST_CASE("of threads whose rings fill, calls that are younger than the look stay") {
  rings all{0};
  REQUIRE(all.ok());
  all.memory().slots_used.store(2);
  written_ring full{all, 0};
  written_ring younger{all, 1};
  const std::uint64_t now = stamp_now();
  for (std::uint64_t i = 0; i != ring_events / 2; ++i) {
    full.write({now - ring_events + i, event_kind::malloc, some_address, 8, 0, {}});
  }
  constexpr std::uint64_t long_time = std::uint64_t{1} << 40;
  younger.write({now + long_time, event_kind::malloc, some_address, 8, 0, {}});
  call_tables tables;
  checked_calls calls{{&full, &younger}, tables.stacks};
  calls.expect_up_to((now + long_time) * 2);
  all.look();
  CHECK(all.drain(0, tables, 0, calls) == ring_events / 2);
  CHECK(full.unread() == 0);
  CHECK(younger.unread() == 1);
}

TEST_CASE("a ring that fills with stamps that are ahead of the clock is read") {
  rings all{0};
  REQUIRE(all.ok());
  all.memory().slots_used.store(1);
  written_ring ahead{all, 0};
  const std::uint64_t later = stamp_now() + (std::uint64_t{1} << 40);
  for (std::uint64_t i = 0; i != ring_events / 2; ++i) {
    ahead.write({later + i, event_kind::malloc, some_address, 8, 0, {}});
  }
  call_tables tables;
  checked_calls calls{{&ahead}, tables.stacks};
  calls.expect_up_to(UINT64_MAX);
  all.look();
  CHECK(all.drain(0, tables, 0, calls) == ring_events / 2);
  CHECK(ahead.unread() == 0);
}
