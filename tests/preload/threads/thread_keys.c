/* Takes every key of threads before its first malloc. Then threads come and go: what each had cached
 * goes on to the next one. Prints "done". */
#include <limits.h>

#include "program.h"

enum { first = 100, later = 400 };
static const long most_kib = 2 << 10;

static void* work(void* unused) {
  churn(7, 300);
  return unused;
}

static void run_threads(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    start_thread(&thread, work, NULL);
    pthread_join(thread, NULL);
  }
}

int main(void) {
  pthread_key_t key;
  int keys = 0;
  while (pthread_key_create(&key, NULL) == 0) ++keys;
  REQUIRE(keys > 0 && keys < PTHREAD_KEYS_MAX); /* some are the libraries' */
  run_threads(first);
  const long before = resident_kib();
  run_threads(later);
  REQUIRE(resident_kib() - before < most_kib);
  return write(1, "done\n", 5) == 5 ? 0 : 1;
}
