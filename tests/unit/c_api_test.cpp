#include <heapwise/pool.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "contract/child.hpp"

// The same text is valid C and C++; the headers' own test compiles pool.h as C.
extern "C" {
#include "c_api_test.c"
}

namespace {

constexpr int policies[] = {HEAPWISE_UNSYNCHRONIZED, HEAPWISE_LOCKED, HEAPWISE_LOCK_FREE,
                            HEAPWISE_THREAD_CACHED};

heapwise_pool_options options_for(std::size_t block_size, std::size_t count) {
  heapwise_pool_options options = HEAPWISE_POOL_OPTIONS_INIT;
  options.block_size = block_size;
  options.block_count = count;
  return options;
}

TEST_CASE("a C program's day with a pool: every policy, checked or not, counted or not") {
  for (const int policy : policies) {
    for (const int checked : {0, 1}) {
      for (const int counted : {0, 1}) {
        CAPTURE(policy);
        CAPTURE(checked);
        CAPTURE(counted);
        CHECK(heapwise_c_user(policy, checked, counted) == 0);
      }
    }
  }
}

TEST_CASE("a program that was compiled with another version of the header") {
  CHECK(heapwise_c_versions() == 0);
}

TEST_CASE("a pool that cannot be created: NULL, errno, a code, and words") {
  struct row {
    heapwise_pool_options options;
    int policy;
    heapwise_error code;
    int error_number;
    std::string words;
  };
  heapwise_pool_options bad_growth = options_for(8, 8);
  bad_growth.growth = 7;
  heapwise_pool_options odd = options_for(8, 8);
  odd.alignment = 12;
  heapwise_pool_options no_size = options_for(8, 8);
  no_size.struct_size = 0;
  heapwise_pool_options garbage_size = options_for(8, 8);
  garbage_size.struct_size = SIZE_MAX / 2;
  heapwise_pool_options not_reserved = options_for(8, 8);
  not_reserved.reserved = 1;
  for (const row& each :
       {row{options_for(0, 8), 0, HEAPWISE_ERROR_INVALID, EINVAL, "pool: block_size is 0"},
        row{options_for(8, 0), 1, HEAPWISE_ERROR_INVALID, EINVAL, "pool: block_count is 0"},
        row{odd, 2, HEAPWISE_ERROR_INVALID, EINVAL, "pool: alignment is not a power of two"},
        row{options_for(8, 8), 4, HEAPWISE_ERROR_INVALID, EINVAL, "pool: unknown policy"},
        row{options_for(8, 8), -1, HEAPWISE_ERROR_INVALID, EINVAL, "pool: unknown policy"},
        row{no_size, 0, HEAPWISE_ERROR_INVALID, EINVAL,
            "pool: struct_size makes no sense; start from HEAPWISE_POOL_OPTIONS_INIT"},
        row{garbage_size, 0, HEAPWISE_ERROR_INVALID, EINVAL,
            "pool: struct_size makes no sense; start from HEAPWISE_POOL_OPTIONS_INIT"},
        row{not_reserved, 0, HEAPWISE_ERROR_INVALID, EINVAL,
            "pool: an option is set that this library does not know"},
        row{bad_growth, 3, HEAPWISE_ERROR_INVALID, EINVAL, "pool: unknown growth"},
        row{options_for(SIZE_MAX, 8), 3, HEAPWISE_ERROR_TOO_LARGE, EOVERFLOW,
            "pool: block_size is too large"},
        row{options_for(SIZE_MAX / 1000, 1000), 2, HEAPWISE_ERROR_TOO_LARGE, EOVERFLOW,
            "pool: block_size * block_count is too large"},
        row{options_for(std::size_t{1} << 60, 1), 1, HEAPWISE_ERROR_NO_MEMORY, ENOMEM,
            "pool: no memory for the first chunk"}}) {
    CAPTURE(each.words);
    errno = 0;
    CHECK(heapwise_pool_create(&each.options, each.policy) == nullptr);
    CHECK(errno == each.error_number);
    CHECK(heapwise_last_error() == each.code);
    CHECK(heapwise_last_error_message() == each.words);
  }
  CHECK(heapwise_pool_create(nullptr, HEAPWISE_LOCKED) == nullptr);
  CHECK(heapwise_last_error() == HEAPWISE_ERROR_INVALID);
}

TEST_CASE("a thread's last error is its own, and success clears it") {
  CHECK(heapwise_pool_create(nullptr, 0) == nullptr);
  std::thread{[] { CHECK(heapwise_last_error() == HEAPWISE_OK); }}.join();
  CHECK(heapwise_last_error() == HEAPWISE_ERROR_INVALID);
  const heapwise_pool_options fine = options_for(8, 8);
  heapwise_pool_destroy(heapwise_pool_create(&fine, 0));
  CHECK(heapwise_last_error() == HEAPWISE_OK);
}

TEST_CASE("NULL for a pool does no harm anywhere") {
  heapwise_pool_stats stats = HEAPWISE_POOL_STATS_INIT;
  errno = 0;
  CHECK(heapwise_pool_allocate(nullptr) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(heapwise_pool_deallocate(nullptr, &stats) == HEAPWISE_ERROR_INVALID);
  CHECK(heapwise_pool_contains(nullptr, &stats) == 0);
  CHECK(heapwise_pool_get_stats(nullptr, &stats) == HEAPWISE_ERROR_INVALID);
  CHECK(heapwise_pool_block_size(nullptr) == 0);
  CHECK(heapwise_pool_budget_bytes(nullptr) == 0);
  heapwise_pool_reset(nullptr);
  heapwise_pool_destroy(nullptr);
  const heapwise_pool_options fine = options_for(8, 8);
  heapwise_pool* const pool = heapwise_pool_create(&fine, 0);
  CHECK(heapwise_pool_get_stats(pool, nullptr) == HEAPWISE_ERROR_INVALID);
  heapwise_pool_destroy(pool);
}

TEST_CASE("codes and policies have names, unknown ones too") {
  CHECK(heapwise_policy_name(HEAPWISE_LOCK_FREE) == std::string{"lock_free"});
  CHECK(heapwise_policy_name(HEAPWISE_THREAD_CACHED) == std::string{"thread_cached"});
  CHECK(heapwise_policy_name(99) == std::string{"unknown"});
  CHECK(heapwise_error_message(HEAPWISE_ERROR_FOREIGN) ==
        std::string{"the pointer is not a block of this pool"});
  CHECK(heapwise_error_message(-5) == std::string{"unknown error"});
}

TEST_CASE("a checked pool aborts with the line that C++ gets, and a foreign_checked one does not") {
  for (const int policy : policies) {
    for (const int checked : {0, 1}) {
      heapwise_pool_options options = options_for(32, 8);
      options.checked = checked;
      heapwise_pool* const pool = heapwise_pool_create(&options, policy);
      void* const block = heapwise_pool_allocate(pool);
      const contract::ending how = contract::in_child([&] {
        heapwise_pool_deallocate(pool, block);
        heapwise_pool_deallocate(pool, block);
      });
      CHECK(how.signal == (checked != 0 ? SIGABRT : 0));
      CHECK((how.error.find("double free") != std::string::npos) == (checked != 0));
      heapwise_pool_destroy(pool);
    }
  }
}

TEST_CASE("threads share a pool") {
  for (const int policy : {HEAPWISE_LOCKED, HEAPWISE_LOCK_FREE, HEAPWISE_THREAD_CACHED}) {
    heapwise_pool_options options = options_for(32, 4000);
    options.counted = 1;
    heapwise_pool* const pool = heapwise_pool_create(&options, policy);
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n) {
      threads.emplace_back([pool] {
        for (int i = 0; i < 2000; ++i) {
          heapwise_pool_deallocate(pool, heapwise_pool_allocate(pool));
        }
      });
    }
    for (std::thread& each : threads) each.join();
    heapwise_pool_stats stats = HEAPWISE_POOL_STATS_INIT;
    heapwise_pool_get_stats(pool, &stats);
    CHECK(stats.allocations == 8000);
    CHECK(stats.live == 0);
    heapwise_pool_destroy(pool);
  }
}

} // namespace
