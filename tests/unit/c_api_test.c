/* What a C program does with a pool, in C89. Returns 0, or the line that went wrong. */
#include <errno.h>
#include <string.h>

#include <heapwise/pool.h>

int heapwise_c_user(int policy, int checked, int counted);

#define NEED(condition) \
  do {                  \
    if (!(condition)) { \
      return __LINE__;  \
    }                   \
  } while (0)

int heapwise_c_user(int policy, int checked, int counted) {
  heapwise_pool_options options = HEAPWISE_POOL_OPTIONS_INIT;
  heapwise_pool_stats stats;
  heapwise_pool *pool;
  char *blocks[100];
  int i;
  int on_stack;

  options.block_size = 48;
  options.block_count = 25;
  options.max_block_count = 100;
  options.growth = HEAPWISE_GROWTH_GEOMETRIC;
  options.checked = checked;
  options.counted = counted;
  pool = heapwise_pool_create(&options, policy);
  NEED(pool != NULL);
  NEED(heapwise_last_error() == HEAPWISE_OK);
  NEED(strcmp(heapwise_last_error_message(), "") == 0);

  for (i = 0; i < 100; ++i) {
    blocks[i] = (char *)heapwise_pool_allocate(pool);
    NEED(blocks[i] != NULL);
    memset(blocks[i], i, 48);
  }
  errno = 0;
  NEED(heapwise_pool_allocate(pool) == NULL);
  NEED(errno == ENOMEM);
  for (i = 0; i < 100; ++i) {
    NEED(blocks[i][0] == i && blocks[i][47] == i);
    NEED(heapwise_pool_owns(pool, blocks[i]) == 1);
    NEED(heapwise_pool_owns(pool, blocks[i] + 1) == 0);
  }
  errno = 77;
  NEED(heapwise_pool_deallocate(pool, &on_stack) == HEAPWISE_ERROR_FOREIGN);
  NEED(heapwise_pool_deallocate(pool, NULL) == HEAPWISE_OK);
  for (i = 0; i < 99; ++i) {
    NEED(heapwise_pool_deallocate(pool, blocks[i]) == HEAPWISE_OK);
  }
  NEED(errno == 77);

  NEED(heapwise_pool_get_stats(pool, &stats) == HEAPWISE_OK);
  NEED(stats.block_size == 48 && stats.block_size == heapwise_pool_block_size(pool));
  NEED(stats.stride_bytes >= 48 && stats.stride_bytes == heapwise_pool_stride_bytes(pool));
  NEED(stats.alignment == 16 && stats.alignment == heapwise_pool_alignment(pool));
  NEED(stats.capacity == 100 && stats.capacity == heapwise_pool_capacity(pool));
  NEED(stats.chunk_count == 3 && stats.chunk_count == heapwise_pool_chunk_count(pool));
  NEED(stats.reserved_bytes >= 4800);
  NEED(stats.reserved_bytes == heapwise_pool_reserved_bytes(pool));
  NEED(stats.budget_bytes > 0 && stats.budget_bytes == heapwise_pool_budget_bytes(pool));
  NEED(stats.allocations == (counted ? 100u : 0u));
  NEED(stats.frees == (counted ? 99u : 0u));
  NEED(stats.refused_frees == (counted ? 1u : 0u));
  NEED(stats.failed_allocations == (counted ? 1u : 0u));
  NEED(stats.live == (counted ? 1u : 0u));
  NEED(stats.peak == (counted ? 100u : 0u));

  heapwise_pool_reset(pool);
  NEED(heapwise_pool_owns(pool, blocks[99]) == 0);
  for (i = 0; i < 100; ++i) {
    NEED(heapwise_pool_allocate(pool) != NULL);
  }
  heapwise_pool_destroy(pool);
  return 0;
}
