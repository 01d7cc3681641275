/* Threads come and go; what they allocated outlives them and is freed by main. Prints the resident
 * KiB after the first quarter of the threads and after the last. argv[1]: threads. */
#include "program.h"

enum { at_once = 8, objects = 200 };

static void* allocate(void* place) {
  unsigned char** const blocks = place;
  uint64_t state = (uintptr_t)place;
  churn(state, 100);
  for (int i = 0; i < objects; ++i) blocks[i] = signed_block(draw_size(&state) % 2000);
  return NULL;
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  const int rounds = atoi(argv[1]) / at_once;
  static unsigned char* blocks[at_once][objects];
  long warm_kib = 0;
  alarm(240);
  for (int round = 0; round < rounds; ++round) {
    pthread_t threads[at_once];
    for (int i = 0; i < at_once; ++i) start_thread(&threads[i], allocate, blocks[i]);
    for (int i = 0; i < at_once; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < at_once; ++i) {
      for (int k = 0; k < objects; ++k) free_signed(blocks[i][k]);
    }
    if (round == rounds / 4) warm_kib = resident_kib();
  }
  printf("%ld %ld\n", warm_kib, resident_kib());
  return 0;
}
