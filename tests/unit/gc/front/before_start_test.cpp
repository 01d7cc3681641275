// Calls with addresses that are not blocks, in a process that has not started the collector.
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include "gc/process.hpp"
#include "gc/surroundings.hpp"

using gc_test::status_of_process;

namespace {

void nothing(void*, void*) {}

/// Returns: 0 if nothing takes the address for that of a block, else the number of the call.
int number_of_wrong_call(void* address) {
  heapwise_gc_weak cell{};
  if (heapwise_gc_base(address) != nullptr) return 1;
  if (heapwise_gc_usable_size(address) != 0) return 2;
  if (heapwise_gc_keep(address) != EINVAL) return 3;
  if (heapwise_gc_set_finalizer(address, nothing, nullptr) != EINVAL) return 4;
  if (heapwise_gc_set_unordered_finalizer(address, nothing, nullptr) != EINVAL) return 5;
  if (heapwise_gc_set_finalizer(address, nullptr, nullptr) != EINVAL) return 6;
  if (heapwise_gc_set_weak(&cell, address) != (address == nullptr ? 0 : EINVAL)) return 7;
  heapwise_gc_stop_keeping(address);
  return heapwise_gc_get_weak(&cell) == nullptr ? 0 : 8;
}

} // namespace

TEST_CASE("NULL and other addresses are not blocks, before and after the collector is started") {
  static int outside = 0;
  for (const bool is_started : {false, true}) {
    for (void* const address :
         {static_cast<void*>(nullptr), reinterpret_cast<void*>(std::uintptr_t{64}),
          static_cast<void*>(&outside)}) {
      CAPTURE(is_started);
      CAPTURE(address);
      CHECK(status_of_process([&] {
              if (is_started && heapwise_gc_init(nullptr) != 0) return 9;
              return number_of_wrong_call(address);
            }) == 0);
    }
  }
}
