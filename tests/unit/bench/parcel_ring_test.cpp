#include "workload/parcel_ring.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

using heapwise::bench::parcel;
using heapwise::bench::parcel_ring;

namespace {

/// Puts one batch whose parcels say they are `from`, `from + 1` and so on, in bytes.
void put_batch(parcel_ring& ring, std::size_t from) {
  ring.put([&](parcel& into) { into = {nullptr, from++}; });
}

/// Takes a batch. Returns how many of its parcels came in order from `from` on; 0 without a batch.
std::size_t take_batch(parcel_ring& ring, std::size_t from) {
  std::size_t in_order = 0;
  ring.take([&](const parcel& one) { in_order += one.bytes == from++ ? 1 : 0; });
  return in_order;
}

} // namespace

TEST_CASE(
    "parcels come out as they went in, by the batch and in order, as often as the ring goes "
    "round") {
  const auto ring = std::make_unique<parcel_ring>();
  CHECK(take_batch(*ring, 0) == 0);
  std::size_t number = 0;
  for (std::size_t turn = 0; turn < 3; ++turn) {
    for (std::size_t i = 0; i < parcel_ring::capacity; i += parcel_ring::batch) {
      put_batch(*ring, number + i);
    }
    for (std::size_t i = 0; i < parcel_ring::capacity; i += parcel_ring::batch) {
      CHECK(take_batch(*ring, number + i) == parcel_ring::batch);
    }
    number += parcel_ring::capacity;
    CHECK(take_batch(*ring, number) == 0);
    CHECK(ring->taken() == number);
  }
}

TEST_CASE("a full ring makes its producer wait until there is room, and loses nothing") {
  constexpr std::size_t batches = 3 * parcel_ring::capacity / parcel_ring::batch;
  const auto ring = std::make_unique<parcel_ring>();
  std::thread producer{[&] {
    for (std::size_t i = 0; i < batches; ++i) put_batch(*ring, i * parcel_ring::batch);
  }};
  std::size_t in_order = 0;
  for (std::size_t i = 0; i < batches;) {
    const std::size_t took = take_batch(*ring, i * parcel_ring::batch);
    in_order += took;
    if (ring->taken() == (i + 1) * parcel_ring::batch) {
      ++i;
    } else {
      std::this_thread::yield();
    }
  }
  producer.join();
  CHECK(in_order == batches * parcel_ring::batch);
  ring->restart();
  CHECK(take_batch(*ring, 0) == 0);
}
