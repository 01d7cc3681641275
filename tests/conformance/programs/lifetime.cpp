// B1-19: malloc in the first constructor, after main, and where threads begin and end.
#include "observe.hpp"

#include <atomic>
#include <thread>

#include <pthread.h>

namespace {

using namespace conformance;

void* early_block = nullptr;

__attribute__((constructor(101))) void first_of_all() {
  std::free(hidden(std::malloc(100)));
  early_block = std::realloc(hidden(std::calloc(1, 10)), 3000);
  if (early_block != nullptr) fill(early_block, 3000, 1);
}

bool early_block_is_whole() {
  const bool whole = early_block != nullptr && filled(early_block, 3000, 1);
  std::free(early_block);
  return whole;
}

/// A static object: its destructor runs after what main registered with atexit.
struct keeper {
  void* block = std::malloc(100);
  ~keeper() {
    std::free(block);
    void* const another = hidden(std::malloc(70'000));
    expect("B1-19", "a static destructor allocates and frees", yes_or_no(another != nullptr),
           "yes");
    std::free(another);
  }
} keeper_of_main;

/// The last of all.
__attribute__((destructor(101))) void last_of_all() {
  void* const block = hidden(std::malloc(200));
  expect("B1-19", "the last destructor allocates and frees", yes_or_no(block != nullptr), "yes");
  std::free(block);
  done("B1-19");
}

std::atomic<int> left{0};
std::atomic<int> wrong{0};

void churn() {
  void* blocks[64];
  std::size_t size = 1;
  for (void*& block : blocks) block = hidden(std::malloc(size = size * 37 % 20'011));
  for (void* block : blocks) {
    if (block == nullptr) ++wrong;
    std::free(block);
  }
}

struct thread_keeper {
  void* block = std::malloc(500);
  ~thread_keeper() {
    std::free(block);
    churn();
    ++left;
  }
};

thread_local thread_keeper keeper_of_thread;
pthread_key_t keys[8];

/// Comes again in every round that the system gives to destructors of keys: in the later ones what
/// malloc keeps for the thread is gone.
void key_destructor(void* value) {
  churn();
  std::free(value);
  ++left;
  for (const pthread_key_t key : keys) {
    if (pthread_getspecific(key) == nullptr) {
      pthread_setspecific(key, hidden(std::malloc(48)));
      break;
    }
  }
}

void thread_with_keys() {
  if (keeper_of_thread.block == nullptr) ++wrong;
  for (const pthread_key_t key : keys) pthread_setspecific(key, std::malloc(32));
}

void thread_ends() {
  for (pthread_key_t& key : keys) pthread_key_create(&key, key_destructor);
  for (int round = 0; round < 200; ++round) {
    std::thread one(thread_with_keys);
    std::thread other(thread_with_keys);
    one.join();
    other.join();
  }
  const bool all = left >= 400 * 9 && wrong == 0;
  expect("B1-19", "thread_local and key destructors allocate and free", yes_or_no(all), "yes");
}

/// Blocks that outlive their thread are freed by another.
void survivors() {
  static void* blocks[50][100];
  for (auto& of_thread : blocks) {
    std::thread([&of_thread] {
      for (void*& block : of_thread) fill(block = std::malloc(777), 777, 5);
    }).join();
  }
  bool intact = true;
  for (auto& of_thread : blocks) {
    for (void* block : of_thread) {
      intact = intact && filled(block, 777, 5);
      std::free(block);
    }
  }
  expect("B1-19", "blocks outlive their threads", yes_or_no(intact), "yes");
}

void starter(const char* program) {
  char path[512];
  std::snprintf(path, sizeof path, "%s", program);
  if (char* const slash = std::strrchr(path, '/')) std::strcpy(slash + 1, "starter.so");
  bool worked = true;
  for (int round = 0; round < 20; ++round) {
    void* const library = dlopen(path, RTLD_NOW);
    if (library == nullptr) return expect("B1-19", "a library is loaded", dlerror(), "yes");
    const auto asked = reinterpret_cast<bool (*)()>(dlsym(library, "starter_has_worked"));
    worked = asked() && worked;
    dlclose(library);
  }
  expect("B1-19", "a library's constructor waits for a thread that allocates", yes_or_no(worked),
         "yes");
}

constexpr int handlers = 8192;
void* of_handlers[handlers];
int handled = 0;

void at_exit() {
  std::free(of_handlers[handled++]);
  std::free(hidden(std::malloc(30)));
  if (handled == handlers)
    expect("B1-19", "8192 functions at exit free and allocate", "yes", "yes");
}

} // namespace

int main(int, char** arguments) {
  alarm(60); // a thread that waits for ever ends here
  introduce();
  expect("B1-19", "a constructor of priority 101 allocates", yes_or_no(early_block_is_whole()),
         "yes");
  thread_ends();
  survivors();
  starter(arguments[0]);
  if (keeper_of_thread.block == nullptr) return 1;
  for (void*& block : of_handlers) {
    block = hidden(std::malloc(50));
    if (std::atexit(at_exit) != 0) return 1;
  }
}
