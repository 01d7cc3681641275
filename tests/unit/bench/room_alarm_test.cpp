// The waits are of an hour: if one is not ended, the limit of the test's time is.
#include "trace/room_alarm.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>

using namespace heapwise::bench;

namespace {

constexpr long longest_ns = 3'600'000'000'000;

/// A ring that is full again and again, as its thread sees it.
struct full_ring {
  std::atomic<std::uint64_t> read{0};
  room_alarm room;

  void wait(std::uint64_t wanted) {
    while (read.load() < wanted) room.wait(read, wanted, longest_ns);
  }
  /// Returns when the thread has said what it waits for.
  void be_waited_for() const {
    while (!room.is_waited_for()) std::this_thread::yield();
  }
};

} // namespace

TEST_CASE("a thread is woken when as much is read as it waits for, and not before") {
  full_ring ring;
  std::thread waiting{[&] { ring.wait(1000); }};
  ring.be_waited_for();
  ring.room.tell_read(ring.read, 999);
  CHECK(ring.room.calls() == 0);
  ring.room.tell_read(ring.read, 1000);
  waiting.join();
  CHECK(ring.room.calls() <= 1); // 0 if the thread looked just then
  CHECK(!ring.room.is_waited_for());
}

TEST_CASE("a thread that begins to wait while the last events are read is not forgotten") {
  full_ring ring;
  constexpr std::uint64_t count = 5'000;
  std::atomic<std::uint64_t> passed{0};
  std::thread waiting{[&] {
    for (std::uint64_t i = 1; i <= count; ++i) {
      ring.wait(i);
      passed.store(i);
    }
  }};
  for (std::uint64_t i = 1; i <= count; ++i) {
    ring.room.tell_read(ring.read, i);
    while (passed.load() != i) std::this_thread::yield();
  }
  waiting.join();
  CHECK(ring.read.load() == count);
}

TEST_CASE("nobody is woken if no thread waits") {
  full_ring ring;
  ring.room.tell_read(ring.read, 5);
  CHECK(ring.read.load() == 5);
  CHECK(ring.room.calls() == 0);
}

TEST_CASE("a thread does not wait for what is read already, and errno stays as it is") {
  full_ring ring;
  ring.room.tell_read(ring.read, 5);
  errno = E2BIG;
  ring.room.wait(ring.read, 5, longest_ns);
  CHECK(errno == E2BIG);
  CHECK(!ring.room.is_waited_for());
}
