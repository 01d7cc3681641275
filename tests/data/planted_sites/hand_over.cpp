// One thread makes items of 64 bytes, another one ends them.
#include <atomic>
#include <thread>

#include "planted.hpp"

namespace {

constexpr std::size_t bytes = 64;

#ifdef PLANTED
heapwise::pool<heapwise::thread_cached> items{planted::growing(bytes)};
void* make_item() { return items.allocate(); }
void end_item(void* old) { items.deallocate(old); }
#else
[[gnu::noinline]] void* make_item() { return std::malloc(bytes); }
void end_item(void* old) { std::free(old); }
#endif

constexpr std::size_t places = 4096;
std::atomic<void*> ring[places];

void wait_a_little() { std::this_thread::yield(); }

void consume(std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) {
    void* item = nullptr;
    // acquire: with the release of the producer.
    while ((item = ring[i % places].load(std::memory_order_acquire)) == nullptr) wait_a_little();
    ring[i % places].store(nullptr, std::memory_order_release);
    end_item(item);
  }
}

} // namespace

int main(int argc, char** argv) {
  planted::noise noise;
  const std::uint64_t steps = planted::steps(argc, argv, 1'000'000);
  std::thread consumer{consume, steps};
  for (std::uint64_t i = 0; i < steps; ++i) {
    auto* item = static_cast<std::uint64_t*>(make_item());
    *item = i;
    // acquire: the place is empty after the consumer's store.
    while (ring[i % places].load(std::memory_order_acquire) != nullptr) wait_a_little();
    ring[i % places].store(item, std::memory_order_release);
    if (i % 64 == 0) noise.step();
  }
  consumer.join();
}
