// A program whose calls of the allocator are known: what the tests of the recorder compare with.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace {

std::atomic<void*> handed{nullptr};

void* take_over(void*) {
  void* block = nullptr;
  while ((block = handed.exchange(nullptr)) == nullptr) {
  }
  free(block);
  return nullptr;
}

/// One block of 4321 bytes, freed by another thread.
[[gnu::noinline]] void hand_over() {
  pthread_t other{};
  pthread_create(&other, nullptr, take_over, nullptr);
  handed.store(malloc(4321));
  pthread_join(other, nullptr);
}

/// Every way to get a block of 1111 bytes, and every way to give it back.
void every_call() {
  free(malloc(1111));
  free(calloc(11, 101));
  free(aligned_alloc(64, 1111));
  free(memalign(64, 1111));
  void* block = nullptr;
  if (posix_memalign(&block, 64, 1111) == 0) free(block);
  block = realloc(nullptr, 1111);
  block = realloc(block, 2222);
  block = realloc(block, 3333);
  free(block);
  ::operator delete(::operator new(1111));
  ::operator delete[](::operator new[](1111));
  ::operator delete(::operator new(1111, std::nothrow), std::nothrow);
  ::operator delete(::operator new(1111, std::align_val_t{64}), std::align_val_t{64});
  ::operator delete(::operator new(1111), std::size_t{1111});
  free(nullptr);
  block = malloc(1111);
  volatile std::size_t usable = malloc_usable_size(block);
  (void)usable;
  free(block);
}

/// Each call stands deeper than the one before, with room that nobody writes to between them.
[[gnu::noinline]] void descend(int levels) {
  volatile char room[64];
  room[0] = 0;
  free(malloc(1235));
  if (levels > 1) descend(levels - 1);
}

void* churn(void* argument) {
  for (long i = 0; i < reinterpret_cast<long>(argument); ++i) free(malloc(24 + i % 7));
  return nullptr;
}

/// Threads one after the other: more than there are at one time.
void many_threads(long count) {
  for (long i = 0; i < count; ++i) {
    pthread_t other{};
    pthread_create(&other, nullptr, churn, reinterpret_cast<void*>(10L));
    pthread_join(other, nullptr);
  }
}

void* churn_same_size(void* argument) {
  for (long i = 0; i < reinterpret_cast<long>(argument); ++i) free(malloc(40));
  return nullptr;
}

/// Four threads that make and free blocks of one size at one place.
void same_size(long count) {
  pthread_t others[4] = {};
  for (pthread_t& other : others) {
    pthread_create(&other, nullptr, churn_same_size, reinterpret_cast<void*>(count));
  }
  for (const pthread_t other : others) pthread_join(other, nullptr);
}

/// Blocks of one size that grow.
void grow(long count) {
  for (long i = 0; i < count; ++i) free(realloc(malloc(32), 64));
}

/// A child that allocates while its parent does.
void fork_and_churn() {
  const pid_t child = fork();
  churn(reinterpret_cast<void*>(1000L));
  if (child == 0) {
    for (int i = 0; i < 500; ++i) free(malloc(7777));
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

struct node {
  node* next;
  long values[5];
};

[[gnu::noinline]] node* make_node(node* next) { return new node{next, {}}; }

/// Nodes of one size, which a pool suits, and strings of many sizes, which it does not.
void nodes_and_strings(long count) {
  node* heads[64] = {};
  std::string texts[16];
  unsigned random = 1;
  for (long i = 0; i < count; ++i) {
    random = random * 1103515245 + 12345;
    node*& head = heads[random / 65536 % 64];
    if (random / 4096 % 2 == 0 || head == nullptr) {
      head = make_node(head);
    } else {
      node* first = head;
      head = first->next;
      delete first;
    }
    if (i % 4 == 0) texts[i / 4 % 16] = std::string(20 + random % 200, 'x');
  }
  for (node*& head : heads) {
    while (head != nullptr) {
      node* first = head;
      head = first->next;
      delete first;
    }
  }
}

/// Sizes and lifetimes at random, so that a trace of it hardly gets smaller by compression.
void mixed(long count) {
  void* blocks[1000] = {};
  std::uint64_t random = 1;
  for (long i = 0; i < count; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    void*& block = blocks[(random >> 40) % 1000];
    free(block);
    block = malloc(16 + (random >> 20) % 1000);
  }
  for (void* const block : blocks) free(block);
}

/// Blocks of another size in each of three phases; a byte on the input ends a phase.
void phases() {
  void* kept = malloc(901);
  char byte = 0;
  for (const std::size_t size : {701, 702, 703}) {
    for (int i = 0; i < 100; ++i) free(malloc(size));
    if (write(STDOUT_FILENO, "x", 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1) return;
  }
  free(kept);
}

/// How often the memory of the recorder is mapped.
void print_mappings() {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  int count = 0;
  while (fgets(line, sizeof line, maps) != nullptr) {
    count += strstr(line, "heapwise-record") != nullptr ? 1 : 0;
  }
  fclose(maps);
  printf("%d\n", count);
}

/// The first 8 bytes of the file say how often it has made and ended a block, even if it is killed.
[[noreturn]] void make_and_end_for_ever(const char* path) {
  std::atomic<std::uint64_t> unshared{0};
  auto* count = &unshared;
  if (path != nullptr) {
    const int file = open(path, O_RDWR);
    void* found = mmap(nullptr, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (found == MAP_FAILED) std::abort();
    count = static_cast<std::atomic<std::uint64_t>*>(found);
  }
  for (;;) {
    free(malloc(32));
    count->fetch_add(1, std::memory_order_relaxed);
  }
}

} // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const long count = argc > 2 ? std::atol(argv[2]) : 0;
  if (what == "calls") every_call();
  if (what == "hand") hand_over();
  if (what == "churn") churn(reinterpret_cast<void*>(count));
  if (what == "threads") many_threads(count);
  if (what == "fork") fork_and_churn();
  if (what == "mappings") {
    many_threads(count);
    print_mappings();
  }
  if (what == "closed") {
    close_range(0, ~0U, 0);
    // The numbers of files that the recorder may have had belong to others now.
    for (int i = 0; i < 10; ++i) (void)!memfd_create("others", 0);
    many_threads(count);
  }
  if (what == "closed_fork") {
    close_range(0, ~0U, 0);
    for (int i = 0; i < 10; ++i) (void)!memfd_create("others", 0);
    fork_and_churn();
  }
  if (what == "exec") {
    free(malloc(5555));
    void* kept = malloc(6666);
    std::memset(kept, 1, 6666);
    execl(argv[0], argv[0], "calls", nullptr);
  }
  if (what == "keep") {
    for (long i = 0; i < count; ++i) std::memset(malloc(100), 1, 100);
  }
  if (what == "large") {
    char* block = static_cast<char*>(malloc(1 << 20));
    for (long page = 0; page < count; ++page) block[page * 4096 + 2048] = 1;
    free(block);
  }
  if (what == "medium") {
    for (long i = 0; i < count; ++i) {
      char* block = static_cast<char*>(malloc(32 << 10));
      block[2048] = block[10 << 10] = 1;
      free(block);
      free(malloc(64));
    }
  }
  if (what == "daemon") {
    if (fork() != 0) _exit(0);
    setsid();
    if (fork() != 0) _exit(0);
    for (int i = 0; i < 500; ++i) free(malloc(7777));
    _exit(0);
  }
  if (what == "root") {
    if (chroot("/var/empty") != 0 && chroot("/tmp") != 0) return 9;
    many_threads(count);
  }
  if (what == "limits") {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    setrlimit(RLIMIT_NOFILE, &none);
    many_threads(count);
  }
  if (what == "throw") {
    try {
      void* volatile block = ::operator new(~std::size_t{0} / 4);
      (void)block;
    } catch (const std::bad_alloc&) {
      free(malloc(1234));
    }
    for (int i = 0; i < 10; ++i) {
      try {
        void* volatile block = ::operator new[](~std::size_t{0} / 4);
        (void)block;
      } catch (const std::bad_alloc&) {
        descend(20);
      }
      ::operator delete(::operator new(1236));
    }
  }
  if (what == "mixed") mixed(count);
  if (what == "refused") {
    void* volatile block = malloc(~std::size_t{0} / 4);
    block = realloc(malloc(999), ~std::size_t{0} / 4);
    (void)block;
  }
  if (what == "killed") make_and_end_for_ever(argc > 2 ? argv[2] : nullptr);
  if (what == "same_size") same_size(count);
  if (what == "phases") phases();
  if (what == "grow") grow(count);
  if (what == "nodes") nodes_and_strings(count);
  if (what == "exit") std::exit(static_cast<int>(count));
  return 0;
}
