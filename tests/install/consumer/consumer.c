#include <heapwise/pool.h>
#include <stdio.h>

int main(void) {
  heapwise_pool_options options = HEAPWISE_POOL_OPTIONS_INIT;
  heapwise_pool *pool;
  void *block;
  options.block_size = 64;
  options.block_count = 1000;
  pool = heapwise_pool_create(&options, HEAPWISE_THREAD_CACHED);
  if (pool == NULL) {
    fprintf(stderr, "%s\n", heapwise_last_error_message());
    return 1;
  }
  block = heapwise_pool_allocate(pool);
  printf("%lu ", (unsigned long)heapwise_pool_block_size(pool));
  puts(heapwise_pool_deallocate(pool, block) == HEAPWISE_OK ? "freed" : "refused");
  heapwise_pool_destroy(pool);
  return 0;
}
