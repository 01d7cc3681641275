// While the world is stopped, a stopped thread may hold any lock of the C library. The functions
// here replace those of the C library that may wait for one. They end the process if a thread of
// the collector calls them then.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>

#include "../unit/gc/process.hpp"
#include "../unit/gc/surroundings.hpp"

namespace {

thread_local bool belongs_to_test = false; // else it is a thread that the collector started
thread_local bool collects = false;
bool guards = false;

[[maybe_unused]] void check_world_runs(const char* function) {
  const bool stopped = heapwise::gc::the_gc.epoch.load(std::memory_order_acquire) % 2 == 1;
  if (!guards || !stopped || (belongs_to_test && !collects)) return;
  heapwise::os::write_error(function, std::strlen(function));
  constexpr std::string_view reason = " was called while the world is stopped\n";
  heapwise::os::write_error(reason.data(), reason.size());
  ::_exit(3);
}

} // namespace

#if HEAPWISE_REPLACES_C_LIBRARY

#define GUARDED(result, function, parameters, arguments, specification)       \
  extern "C" result function parameters specification {                       \
    check_world_runs(#function);                                              \
    static result(*real) parameters = nullptr;                                \
    if (real == nullptr) {                                                    \
      real = reinterpret_cast<decltype(real)>(::dlsym(RTLD_NEXT, #function)); \
    }                                                                         \
    return real arguments;                                                    \
  }

#define GUARDED_MALLOC(result, function, parameters, arguments) \
  extern "C" result __libc_##function parameters;               \
  extern "C" result function parameters noexcept {              \
    check_world_runs(#function);                                \
    return __libc_##function arguments;                         \
  }

GUARDED_MALLOC(void*, malloc, (std::size_t size), (size))
GUARDED_MALLOC(void*, calloc, (std::size_t count, std::size_t size), (count, size))
GUARDED_MALLOC(void*, realloc, (void* block, std::size_t size), (block, size))
GUARDED_MALLOC(void*, memalign, (std::size_t alignment, std::size_t size), (alignment, size))
GUARDED_MALLOC(void, free, (void* block), (block))

GUARDED(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t* attributes, void* (*body)(void*),
         void* argument),
        (thread, attributes, body, argument), noexcept)
GUARDED(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex), noexcept)
GUARDED(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), noexcept)
GUARDED(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), noexcept)
GUARDED(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex),
        (condition, mutex), )
GUARDED(int, pthread_getattr_np, (pthread_t thread, pthread_attr_t* attributes),
        (thread, attributes), noexcept)
GUARDED(void*, dlopen, (const char* file, int mode), (file, mode), noexcept)
GUARDED(int, dlclose, (void* library), (library), noexcept)
GUARDED(std::size_t, fwrite, (const void* from, std::size_t size, std::size_t count, FILE* file),
        (from, size, count, file), )
GUARDED(int, fputs, (const char* text, FILE* file), (text, file), )
GUARDED(int, fflush, (FILE * file), (file), )

/// A thread that was in it before the world stopped holds its lock, and may take it again.
extern "C" int dl_iterate_phdr(int (*visit)(dl_phdr_info*, std::size_t, void*), void* argument) {
  static decltype(&dl_iterate_phdr) real = nullptr;
  static thread_local int calls = 0;
  if (calls == 0) check_world_runs("dl_iterate_phdr");
  if (real == nullptr) {
    real = reinterpret_cast<decltype(real)>(::dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  }
  ++calls;
  const int result = real(visit, argument);
  --calls;
  return result;
}

#endif

namespace {

void collect() {
  collects = true;
  heapwise_gc_collect();
  collects = false;
}

/// Returns: a list of at least `bytes`, which other markers are started for.
void** live_list(std::size_t bytes) {
  void** newest = nullptr;
  for (std::size_t position = 0; position < bytes; position += 64) {
    auto** const next = static_cast<void**>(heapwise_gc_malloc(64));
    next[0] = newest;
    newest = next;
  }
  return newest;
}

/// Threads that allocate with malloc, and free the blocks of each other.
class malloc_traffic {
 public:
  explicit malloc_traffic(std::size_t threads) {
    for (std::size_t each = 0; each < threads; ++each) {
      threads_.emplace_back([this, each] { run(each); });
    }
    while (running_ < threads) std::this_thread::yield();
  }
  ~malloc_traffic() {
    over_ = true;
    for (std::thread& each : threads_) each.join();
    for (std::atomic<void*>& each : places_) std::free(each.load());
  }
  malloc_traffic(const malloc_traffic&) = delete;
  malloc_traffic& operator=(const malloc_traffic&) = delete;

 private:
  void run(std::size_t seed) {
    belongs_to_test = true;
    heapwise_gc_register_thread();
    std::minstd_rand random{static_cast<unsigned>(seed + 1)};
    ++running_;
    while (!over_) {
      std::free(places_[random() % 64].exchange(std::malloc(16 + random() % 2000)));
    }
    heapwise_gc_unregister_thread();
  }

  std::atomic<void*> places_[64]{};
  std::atomic<std::size_t> running_{0};
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

int collect_beside_malloc() {
  belongs_to_test = true;
  ::mallopt(M_ARENA_MAX, 1);
  heapwise_gc_options options{};
  options.markers = 4;
  heapwise_gc_init(&options);
  heapwise_gc_disable();
  void** volatile const list = live_list(4 << 20);
  collect(); // finds that others are worth waking
  {
    const malloc_traffic traffic{3};
    for (int round = 0; round < 5; ++round) collect();
  }
  return list[0] != nullptr ? 0 : 1;
}

} // namespace

TEST_CASE("a collection calls no function that allocates or locks while the world is stopped" *
          doctest::skip(HEAPWISE_SKIP_STOPS || !HEAPWISE_REPLACES_C_LIBRARY)) {
  guards = true;
  CHECK(gc_test::status_of_process(collect_beside_malloc) == 0);
  guards = false;
}

TEST_CASE("the first large collection ends while threads free the blocks of each other" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  for (int each = 0; each < 5; ++each) {
    REQUIRE(gc_test::status_of_process(collect_beside_malloc) == 0);
  }
}
