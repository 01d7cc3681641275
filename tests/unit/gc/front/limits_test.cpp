// The collector in processes whose memory is limited.
#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gc/mark/mark_stack.hpp"
#include "gc/surroundings.hpp"

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

void limit(int resource, std::size_t bytes) {
  const rlimit wanted{bytes, bytes};
  if (::setrlimit(static_cast<__rlimit_resource>(resource), &wanted) != 0) ::_exit(8);
}

template <class Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

/// Returns: whether a list survives collections by two threads, while there is garbage.
bool works() {
  auto** const first = static_cast<void**>(heapwise_gc_malloc(64));
  void** last = first;
  if (last == nullptr) return false;
  for (int each = 0; each < 1000; ++each) {
    last[0] = heapwise_gc_malloc(1000);
    if (last[0] == nullptr) return false;
    last = static_cast<void**>(last[0]);
    for (int more = 0; more < 20; ++more) {
      if (heapwise_gc_malloc(1000) == nullptr) return false;
    }
  }
  heapwise_gc_collect();
  gc_test::elsewhere([] { heapwise_gc_collect(); });
  int length = 0;
  for (auto** each = first; each != nullptr; each = static_cast<void**>(*each)) ++length;
  return length == 1001 && gc_test::statistics().collections >= 2;
}

/// Returns: how many bytes of addresses the process takes; of an emulated one, the emulator tells
/// its own.
std::size_t address_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  std::size_t pages = 0;
  if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1) ::_exit(7);
  std::fclose(file);
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

TEST_CASE("the collector works under limits of addresses" * doctest::skip(HEAPWISE_SANITIZED)) {
  for (const std::size_t limit_mib : {80U, 128U, 200U, 390U, 600U, 2000U}) {
    CAPTURE(limit_mib);
    const int status = status_of_child([limit_mib] {
      limit(RLIMIT_AS, limit_mib * mib);
      heapwise_gc_options options{};
      options.markers = 4;
      return heapwise_gc_init(&options) == 0 && works();
    });
    CHECK(status == 0);
  }
}

TEST_CASE("a mark stack takes less where addresses are limited" *
          doctest::skip(HEAPWISE_SANITIZED || HEAPWISE_EMULATED)) {
  const int status = status_of_child([] {
    limit(RLIMIT_AS, 400 * mib);
    const std::size_t before = address_bytes();
    std::vector<heapwise::gc::mark_stack> stacks(heapwise::gc::most_markers);
    for (auto& each : stacks) {
      if (!each.start(256 * mib)) return false;
    }
    return address_bytes() - before < 110 * mib;
  });
  CHECK(status == 0);
}

TEST_CASE("leaks are found where the data of a process is limited" *
          doctest::skip(HEAPWISE_SANITIZED)) {
  // Under the emulator a process may have few addresses. Those of the heap then look like small
  // numbers, and a number on the stack may keep a block: with 8 GiB, the upper half of an address
  // is 1.
  constexpr int blocks = 100;
  constexpr int least = HEAPWISE_EMULATED ? 95 : blocks;
  const int status = status_of_child([] {
    limit(RLIMIT_DATA, 200 * mib);
    heapwise_gc_options options{};
    options.find_leaks = 1;
    if (heapwise_gc_init(&options) != 0) return false;
    static int reported = 0;
    heapwise_gc_on_leak([](void*, std::size_t, void*) { ++reported; }, nullptr);
    gc_test::elsewhere([] {
      for (int each = 0; each < blocks; ++each) static_cast<void>(heapwise_gc_malloc(300'000));
    });
    heapwise_gc_collect();
    return reported >= least && reported <= blocks;
  });
  CHECK(status == 0);
}

TEST_CASE("a start that failed leaves nothing behind" *
          doctest::skip(HEAPWISE_SANITIZED || HEAPWISE_EMULATED)) {
  const int status = status_of_child([] {
    std::vector<pthread_key_t> keys;
    for (pthread_key_t key = 0; ::pthread_key_create(&key, nullptr) == 0;) keys.push_back(key);
    const std::size_t before = address_bytes();
    if (heapwise_gc_init(nullptr) != EAGAIN) return false;
    if (heapwise_gc_init(nullptr) != EAGAIN) return false;
    if (address_bytes() - before > mib) return false;
    for (const pthread_key_t each : keys) ::pthread_key_delete(each);
    return heapwise_gc_init(nullptr) == 0 && works();
  });
  CHECK(status == 0);
}
