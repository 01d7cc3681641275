/* Some threads only allocate, others only free. Prints the live KiB at their peak and the resident
 * KiB at theirs, less those at the start. argv: producers, consumers, live MiB, times that the live
 * bytes are turned over. A consumer's first call is free, and a producer's malloc: no thread does both. */
#include "program.h"

enum { places = 1 << 17 };

/* Blocks on their way, in order: producers and consumers wait for each other under one lock. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned char* blocks[places];
  size_t first, count, live_bytes, most_live_bytes, produced_bytes;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static size_t limit_bytes, total_bytes;
static atomic_long most_resident_kib;

static void note_resident(void) {
  const long now = resident_kib();
  long most = atomic_load(&most_resident_kib);
  while (now > most && !atomic_compare_exchange_weak(&most_resident_kib, &most, now)) {}
}

static int put(unsigned char** batch, int count, size_t bytes) {
  pthread_mutex_lock(&queue.lock);
  while (queue.live_bytes + bytes > limit_bytes || queue.count + (size_t)count > places) {
    pthread_cond_wait(&queue.changed, &queue.lock);
  }
  for (int i = 0; i < count; ++i) queue.blocks[(queue.first + queue.count++) % places] = batch[i];
  queue.live_bytes += bytes;
  queue.produced_bytes += bytes;
  if (queue.live_bytes > queue.most_live_bytes) queue.most_live_bytes = queue.live_bytes;
  const int more = queue.produced_bytes < total_bytes;
  pthread_cond_broadcast(&queue.changed);
  pthread_mutex_unlock(&queue.lock);
  return more;
}

static void* produce(void* seed) {
  uint64_t state = (uintptr_t)seed;
  unsigned char* batch[32];
  size_t bytes;
  do {
    bytes = 0;
    for (int i = 0; i < 32; ++i) {
      const size_t size = 16 + draw(&state) % 4000;
      batch[i] = signed_block(size);
      memset(batch[i] + sizeof size, 1, size - sizeof size - 1);
      bytes += size;
    }
  } while (put(batch, 32, bytes));
  return NULL;
}

static size_t size_of(const unsigned char* block) {
  size_t size;
  memcpy(&size, block, sizeof size);
  return size;
}

static atomic_int producers_left;

static void* consume(void* unused) {
  unsigned char* batch[32];
  for (int turn = 0;; ++turn) {
    int count = 0;
    size_t bytes = 0;
    pthread_mutex_lock(&queue.lock);
    while (queue.live_bytes < limit_bytes * 3 / 4 && atomic_load(&producers_left) > 0) {
      pthread_cond_wait(&queue.changed, &queue.lock);
    }
    for (; count < 32 && queue.count > 0; ++count, --queue.count) {
      batch[count] = queue.blocks[queue.first++ % places];
      bytes += size_of(batch[count]);
    }
    pthread_mutex_unlock(&queue.lock);
    if (turn % 256 == 0) note_resident();
    for (int i = 0; i < count; ++i) free_signed(batch[i]);
    if (count == 0 && atomic_load(&producers_left) == 0) return unused;
    pthread_mutex_lock(&queue.lock);
    queue.live_bytes -= bytes;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
  }
}

static void* produce_and_leave(void* seed) {
  produce(seed);
  atomic_fetch_sub(&producers_left, 1);
  pthread_mutex_lock(&queue.lock);
  pthread_cond_broadcast(&queue.changed);
  pthread_mutex_unlock(&queue.lock);
  return NULL;
}

int main(int argc, char** argv) {
  REQUIRE(argc == 5);
  const int producers = atoi(argv[1]), consumers = atoi(argv[2]);
  REQUIRE(producers > 0 && consumers > 0 && producers + consumers <= 64);
  limit_bytes = (size_t)atoi(argv[3]) << 20;
  total_bytes = limit_bytes * (size_t)atoi(argv[4]);
  alarm(240);
  atomic_store(&producers_left, producers);
  const long before_kib = resident_kib();
  pthread_t threads[64];
  pthread_t* next = threads;
  for (uintptr_t i = 0; i < (uintptr_t)consumers; ++i) start_thread(next++, consume, NULL);
  for (uintptr_t i = 0; i < (uintptr_t)producers; ++i) {
    start_thread(next++, produce_and_leave, (void*)(i + 1));
  }
  for (pthread_t* each = threads; each < next; ++each) pthread_join(*each, NULL);
  printf("%zu %ld\n", queue.most_live_bytes >> 10, atomic_load(&most_resident_kib) - before_kib);
  return 0;
}
