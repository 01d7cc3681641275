// What the destructors of pthread keys may still do while their thread ends.
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdint>
#include <thread>

#include <doctest/doctest.h>
#include <pthread.h>
#include <unistd.h>

#include "gc/process.hpp"
#include "gc/surroundings.hpp"

using gc_test::hidden;
using gc_test::status_of_process;
using gc_test::survived;

extern "C" [[gnu::weak]] void __tsan_init();

namespace {

pthread_key_t key;
std::atomic<int> result;

void set_result(bool good) { result = good ? 1 : 2; }

/// Effects: makes the key, after or before that of the collector, and lets a thread end with a
/// value in it. Returns: the exit status of a process.
template <class Body>
int end_thread_with_key(void (*destructor)(void*), bool key_first, Body body) {
  if (key_first) ::pthread_key_create(&key, destructor);
  heapwise_gc_init(nullptr);
  if (!key_first) ::pthread_key_create(&key, destructor);
  std::thread{body}.join();
  const std::size_t left = gc_test::statistics().threads;
  heapwise_gc_collect();
  heapwise_gc_collect();
  if (result != 1) return result + 1;
  return left == 1 ? 0 : 9;
}

void allocate(void* /*value*/) {
  bool good = true;
  for (int each = 0; each < 1000; ++each) good = good && heapwise_gc_malloc(100) != nullptr;
  set_result(good);
}

std::atomic<int> step;

void use_value(void* value) {
  auto* volatile const kept = static_cast<std::uint64_t*>(value);
  step = 1;
  while (step != 2) ::usleep(100); // the first thread collects, and allocates
  set_result(*kept == 77);
}

int round_of_thread = 0;

/// Returns: the last round in which a destructor may do anything. In the last one of all,
/// ThreadSanitizer takes its record of the thread away.
int last_round() { return PTHREAD_DESTRUCTOR_ITERATIONS - (__tsan_init != nullptr ? 1 : 0); }

/// Is called in every round of destructors, and does its work in the last.
template <void (*work)()>
void in_last_round(void* value) {
  if (++round_of_thread < last_round()) {
    ::pthread_setspecific(key, value);
  } else {
    work();
  }
}

void expect_refusal() { set_result(heapwise_gc_register_thread() != 0); }
void expect_registration() { set_result(heapwise_gc_register_thread() == 0); }

std::atomic<int> ran_while_stopped;
std::atomic<bool> ready;

void check_not_stopped(void* /*value*/) {
  const heapwise::gc::thread_record* const self = heapwise::gc::this_thread;
  if (self == nullptr) return;
  // First, so that a stop between the two does not look like one that goes on.
  const auto stopped_in = self->stopped_in.load();
  const auto epoch = heapwise::gc::the_gc.epoch.load();
  ran_while_stopped += epoch % 2 == 1 && stopped_in == epoch ? 1 : 0;
}

void* run_until_cancelled(void* /*argument*/) {
  heapwise_gc_register_thread();
  ::pthread_setspecific(key, &key);
  int before = 0;
  ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
  ready = true;
  for (;;) asm volatile("" ::: "memory");
  return nullptr;
}

} // namespace

TEST_CASE("a destructor of a pthread key may allocate") {
  for (const bool key_first : {false, true}) {
    CHECK(status_of_process([=] {
            return end_thread_with_key(allocate, key_first, [] {
              heapwise_gc_register_thread();
              ::pthread_setspecific(key, &key);
            });
          }) == 0);
  }
}

TEST_CASE("the value of a pthread key is kept until its destructor has run" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  for (const bool key_first : {false, true}) {
    CHECK(status_of_process([=] {
            if (key_first) ::pthread_key_create(&key, use_value);
            heapwise_gc_init(nullptr);
            if (!key_first) ::pthread_key_create(&key, use_value);
            std::thread thread{[] {
              heapwise_gc_register_thread();
              auto* const number = static_cast<std::uint64_t*>(heapwise_gc_malloc(80));
              *number = 77;
              ::pthread_setspecific(key, number);
              for (int each = 0; each < 200; ++each) static_cast<void>(heapwise_gc_malloc(80));
            }};
            while (step != 1) ::usleep(100);
            heapwise_gc_collect();
            for (int each = 0; each < 10'000; ++each) {
              *static_cast<std::uint64_t*>(heapwise_gc_malloc(80)) = 1;
            }
            step = 2;
            thread.join();
            return result == 1 ? 0 : 1;
          }) == 0);
  }
}

TEST_CASE("after its last round of destructors a thread cannot be registered again") {
  CHECK(status_of_process([] {
          // Made later, the key comes after that of the collector.
          return end_thread_with_key(in_last_round<expect_refusal>, false, [] {
            heapwise_gc_register_thread();
            ::pthread_setspecific(key, &key);
          });
        }) == 0);
}

TEST_CASE("a thread that was first registered by its last destructor is forgotten" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  for (const bool key_first : {false, true}) {
    CHECK(status_of_process([=] {
            const int status = end_thread_with_key(in_last_round<expect_registration>, key_first,
                                                   [] { ::pthread_setspecific(key, &key); });
            // It was still in the list when it had ended.
            return status == 9 && gc_test::statistics().threads == 1 ? 0 : status + 10;
          }) == 0);
  }
}

TEST_CASE("a thread that is cancelled does not run while it is stopped" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  CHECK(status_of_process([] {
          ::pthread_key_create(&key, check_not_stopped);
          heapwise_gc_init(nullptr);
          void** volatile list = nullptr;
          for (int each = 0; each < 200'000; ++each) { // a collection takes some milliseconds
            auto** const next = static_cast<void**>(heapwise_gc_malloc(64));
            next[0] = list;
            list = next;
          }
          for (int round = 0; round < 30; ++round) {
            ready = false;
            pthread_t thread;
            ::pthread_create(&thread, nullptr, run_until_cancelled, nullptr);
            while (!ready) ::usleep(10);
            std::thread canceller{[&] { // not registered, so it is not stopped
              step = 1;
              while (heapwise::gc::the_gc.epoch % 2 == 0 && step == 1) {
              }
              ::usleep(500);
              ::pthread_cancel(thread);
            }};
            while (step != 1) ::usleep(10);
            heapwise_gc_collect();
            step = 0;
            canceller.join();
            ::pthread_join(thread, nullptr);
          }
          return ran_while_stopped == 0 && list[0] != nullptr ? 0 : 1;
        }) == 0);
}
