// The sample of the blocks in use, by which a living process tells its heap profile.
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>
#include <heapwise/heap.hpp>

#include "contract/child.hpp"
#include "heap/base/random_numbers.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heap/surroundings.hpp"
#include "heapwise/detail/heap_sampling.hpp"

namespace {

using namespace heap_tests;

constexpr std::uint64_t mean = std::uint64_t{64} << 10;

/// What the sample says of the blocks in use.
struct estimate {
  double blocks = 0;
  double bytes = 0;
  double variance = 0; // of the bytes
  std::size_t samples = 0;
};

/// Returns: the estimate for blocks of these bytes; 0: of all.
estimate estimate_of(std::size_t block_bytes = 0) {
  estimate sum;
  for (std::uint32_t each = 0; each < the_samples.used(); ++each) {
    sampled_blocks::seen_block seen;
    if (!the_samples.read(each, seen)) continue;
    if (block_bytes != 0 && seen.bytes != block_bytes) continue;
    const double chance = std::ldexp(static_cast<double>(chance_of(seen.bytes, mean)), -60);
    const auto bytes = static_cast<double>(seen.bytes);
    ++sum.samples;
    sum.blocks += 1 / chance;
    sum.bytes += bytes / chance;
    sum.variance += bytes * bytes * (1 - chance) / (chance * chance);
  }
  return sum;
}

/// Returns: whether the estimate is as near to the truth as an unbiased one is.
bool is_near(const estimate& told, double true_bytes) {
  const double chance_variance = told.variance + static_cast<double>(mean) * mean;
  return std::abs(told.bytes - true_bytes) < 5 * std::sqrt(chance_variance);
}

void start_sampling() {
  start_without_clock();
  seed_random_numbers();
  the_samples.start(mean);
  if (!the_samples.is_on()) std::_Exit(100);
}

template <class Action>
int exit_code_of(Action action) {
  return contract::in_child([&] {
           start_sampling();
           action();
         })
      .exit_code;
}

using contract::exit_unless;

TEST_CASE("the chance of a block is one without its bytes not being samples") {
  for (const double means : {1e-6, 0.01, 0.5, 1.0, 3.0, 20.0}) {
    const auto bytes = static_cast<std::uint64_t>(means * (1 << 30));
    const double chance =
        std::ldexp(static_cast<double>(chance_of(bytes, std::uint64_t{1} << 30)), -60);
    CHECK(chance == doctest::Approx(-std::expm1(-static_cast<double>(bytes) / (1 << 30))));
  }
  CHECK(chance_of(std::uint64_t{100} << 20, 4096) == std::uint64_t{1} << chance_bits);
}

TEST_CASE("the sample tells the bytes in use, whatever came and went at their places") {
  CHECK(exit_code_of([] {
          std::vector<void*> kept;
          for (int i = 0; i < 400'000; ++i) {
            // A block that is not kept had the place of the one that is.
            for (int turn = 0; turn < 3; ++turn) heapwise_free(heapwise_malloc(112));
            kept.push_back(heapwise_malloc(112));
          }
          const estimate all = estimate_of(112);
          exit_unless(all.samples > 300, 1);
          exit_unless(is_near(all, 400'000 * 112.0), 2);
          for (std::size_t i = 0; i < kept.size() / 2; ++i) heapwise_free(kept[i]);
          exit_unless(is_near(estimate_of(112), 200'000 * 112.0), 3);
          for (std::size_t i = kept.size() / 2; i < kept.size(); ++i) heapwise_free(kept[i]);
          exit_unless(estimate_of(112).samples == 0, 4);
          exit_unless(the_samples.missed() == 0, 5);
        }) == 0);
}

TEST_CASE("a block that is freed at once is hardly ever seen, however often it is allocated") {
  CHECK(exit_code_of([] {
          for (int i = 0; i < 2'000'000; ++i) heapwise_free(heapwise_malloc(1'000));
          exit_unless(estimate_of().samples == 0, 1);
        }) == 0);
}

TEST_CASE("blocks of all sizes are told, those that were resized by their last size") {
  CHECK(exit_code_of([] {
          std::vector<void*> kept;
          double bytes = 0;
          for (int i = 0; i < 20'000; ++i) {
            const std::size_t size = 16 + static_cast<std::size_t>(i) * 37 % 9'000;
            kept.push_back(i % 3 == 0 ? heapwise_calloc(1, size) : heapwise_malloc(size));
          }
          for (int i = 0; i < 400; ++i)
            kept.push_back(heapwise_malloc(200'000 + 1'000U * static_cast<unsigned>(i)));
          for (std::size_t i = 0; i < kept.size(); i += 5) {
            kept[i] = heapwise_realloc(kept[i], heapwise_malloc_usable_size(kept[i]) * 2 + 1);
          }
          for (std::size_t i = 20'001; i < kept.size(); i += 4) {
            kept[i] = heapwise_realloc(kept[i], 150'000); // at its place
          }
          for (void* each : kept) bytes += static_cast<double>(heapwise_malloc_usable_size(each));
          exit_unless(is_near(estimate_of(), bytes), 1);
          for (void* each : kept) heapwise_free(each);
          exit_unless(estimate_of().samples == 0, 2);
        }) == 0);
}

TEST_CASE("a sampled block is like any other for its user") {
  CHECK(exit_code_of([] {
          std::vector<void*> kept;
          for (int i = 0; i < 30'000; ++i) {
            const std::size_t size = 1 + static_cast<std::size_t>(i) % 5'000;
            auto* const block = static_cast<unsigned char*>(heapwise_calloc(1, size));
            for (std::size_t at = 0; at < size; ++at) exit_unless(block[at] == 0, 1);
            std::memset(block, i, heapwise_malloc_usable_size(block));
            exit_unless(heapwise_malloc_usable_size(block) == heapwise_good_size(size), 2);
            exit_unless(reinterpret_cast<std::uintptr_t>(block) % 16 == 0, 3);
            kept.push_back(block);
          }
          exit_unless(estimate_of().samples > 100, 4);
          for (int i = 0; i < 30'000; ++i) {
            auto* const longer = static_cast<unsigned char*>(
                heapwise_realloc(kept[static_cast<std::size_t>(i)], 6'000));
            const std::size_t size = 1 + static_cast<std::size_t>(i) % 5'000;
            for (std::size_t at = 0; at < size; ++at) {
              exit_unless(longer[at] == static_cast<unsigned char>(i), 5);
            }
            heapwise_free_sized(longer, 6'000);
          }
          for (const std::size_t alignment : {64U, 256U, 4096U}) {
            for (int i = 0; i < 1'000; ++i) {
              void* const block = heapwise_aligned_alloc(alignment, 3 * alignment);
              exit_unless(reinterpret_cast<std::uintptr_t>(block) % alignment == 0, 6);
            }
          }
        }) == 0);
}

TEST_CASE("blocks that one thread allocates and another frees leave the sample") {
  CHECK(exit_code_of([] {
          std::vector<void*> passed(200'000);
          for (int round = 0; round < 3; ++round) {
            std::thread{[&] {
              for (void*& each : passed) each = heapwise_malloc(80);
            }}.join();
            exit_unless(is_near(estimate_of(80), 200'000 * 80.0), 1);
            std::thread{[&] {
              for (void* each : passed) heapwise_free(each);
            }}.join();
            exit_unless(estimate_of(80).samples == 0, 2);
          }
        }) == 0);
}

TEST_CASE("threads that allocate and free at the same time share one sample") {
  CHECK(exit_code_of([] {
          std::vector<std::thread> threads;
          for (unsigned number = 0; number < 4; ++number) {
            threads.emplace_back([number] {
              std::vector<void*> own(2'000);
              std::uint64_t random = number + 1;
              for (int i = 0; i < 200'000; ++i) {
                random = random * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
                void*& place = own[random >> 40 & 1023];
                heapwise_free(place);
                place = heapwise_malloc(16 + (random >> 50) % 3'000);
              }
              for (void* each : own) heapwise_free(each);
            });
          }
          for (std::thread& each : threads) each.join();
          exit_unless(estimate_of().samples == 0, 1);
          exit_unless(the_samples.missed() == 0, 2);
        }) == 0);
}

TEST_CASE("code that inlines the heap may free and allocate beside the sample") {
  CHECK(exit_code_of([] {
          std::vector<void*> kept;
          for (int i = 0; i < 100'000; ++i) {
            kept.push_back(heapwise::allocate(100));
            kept.push_back(heapwise_malloc(100));
          }
          for (void* each : kept) heapwise::deallocate(each);
          exit_unless(estimate_of().samples == 0, 1);
          heapwise_thread_idle();
        }) == 0);
}

TEST_CASE("a second free of a sampled block, and an address inside of one, are reported") {
  for (const std::size_t offset : {std::size_t{0}, std::size_t{16}}) {
    const contract::ending how = contract::in_child([offset] {
      start_sampling();
      std::byte* sampled = nullptr;
      while (sampled == nullptr) {
        auto* const block = static_cast<std::byte*>(heapwise_malloc(500));
        if (the_samples.holds(block)) sampled = block;
      }
      if (offset == 0) heapwise_free(sampled);
      heapwise_free(sampled + offset);
    });
    CHECK(how.signal == SIGABRT);
  }
}

TEST_CASE("there is no profile where no blocks are sampled") {
  start_without_clock();
  errno = 0;
  CHECK(heapwise_malloc_profile("/tmp/never.pb") == -1);
  CHECK(errno == ENOTSUP);
}

} // namespace
