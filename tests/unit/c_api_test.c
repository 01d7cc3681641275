/* What a C program does with a pool, in C89. Returns 0, or the line that went wrong. */
#include <errno.h>
#include <string.h>

#include <heapwise/pool.h>

static void count(void *block, void *context) {
  if (block != NULL) ++*(int *)context;
}

int heapwise_c_user(int policy, int checked, int counted);
int heapwise_c_versions(void);

#define NEED(condition) \
  do {                  \
    if (!(condition)) { \
      return __LINE__;  \
    }                   \
  } while (0)

/* The structures as a program knows them that was compiled with another version of the header. */
struct older_options {
  size_t struct_size;
  size_t block_size;
  size_t block_count;
  size_t alignment;
  size_t max_block_count;
  int growth;
  int checked;
};

struct newer_options {
  heapwise_pool_options known;
  size_t unknown;
};

struct older_stats {
  size_t struct_size;
  size_t block_size;
  size_t stride_bytes;
};

struct newer_stats {
  heapwise_pool_stats known;
  size_t unknown[3];
};

/* Another version of the structures on either side. Returns 0, or the line that went wrong. */
int heapwise_c_versions(void) {
  struct older_options old_options = {sizeof old_options, 48, 25, 0, 0, HEAPWISE_GROWTH_FIXED, 1};
  struct newer_options new_options = {HEAPWISE_POOL_OPTIONS_INIT, 0};
  struct {
    struct older_stats stats;
    size_t behind;
  } old_stats = {{sizeof(struct older_stats), 0, 0}, 4711};
  struct newer_stats new_stats = {HEAPWISE_POOL_STATS_INIT, {7, 7, 7}};
  heapwise_pool *pool;

  pool = heapwise_pool_create((const heapwise_pool_options *)(void *)&old_options, 0);
  NEED(pool != NULL);
  NEED(heapwise_pool_allocate(pool) != NULL);
  NEED(heapwise_pool_get_stats(pool, (heapwise_pool_stats *)(void *)&old_stats) == HEAPWISE_OK);
  NEED(old_stats.stats.struct_size == sizeof(struct older_stats));
  NEED(old_stats.stats.block_size == 48 && old_stats.stats.stride_bytes > 48);
  NEED(old_stats.behind == 4711);
  new_stats.known.struct_size = sizeof new_stats;
  NEED(heapwise_pool_get_stats(pool, &new_stats.known) == HEAPWISE_OK);
  NEED(new_stats.known.struct_size == sizeof new_stats);
  NEED(new_stats.known.capacity == 25 && new_stats.known.allocations == 0);
  NEED(new_stats.unknown[0] == 0 && new_stats.unknown[2] == 0);
  new_stats.known.struct_size = sizeof(size_t);
  NEED(heapwise_pool_get_stats(pool, &new_stats.known) == HEAPWISE_ERROR_INVALID);
  new_stats.known.struct_size = (size_t)-1;
  NEED(heapwise_pool_get_stats(pool, &new_stats.known) == HEAPWISE_ERROR_INVALID);
  heapwise_pool_destroy(pool);

  new_options.known.struct_size = sizeof new_options;
  new_options.known.block_size = 8;
  new_options.known.block_count = 8;
  pool = heapwise_pool_create(&new_options.known, 0);
  NEED(pool != NULL);
  heapwise_pool_destroy(pool);
  new_options.unknown = 1;
  NEED(heapwise_pool_create(&new_options.known, 0) == NULL);
  NEED(heapwise_last_error() == HEAPWISE_ERROR_INVALID);
  return 0;
}

int heapwise_c_user(int policy, int checked, int counted) {
  heapwise_pool_options options = HEAPWISE_POOL_OPTIONS_INIT;
  heapwise_pool_stats stats = HEAPWISE_POOL_STATS_INIT;
  heapwise_pool *pool;
  char *blocks[100];
  void *many[100];
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
    NEED(heapwise_pool_contains(pool, blocks[i]) == 1);
    NEED(heapwise_pool_contains(pool, blocks[i] + 1) == 0);
  }
  errno = 77;
  if (!checked) { /* a checked pool aborts the program */
    NEED(heapwise_pool_deallocate(pool, &on_stack) == HEAPWISE_ERROR_FOREIGN);
  }
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
  NEED(stats.refused_frees == (counted && !checked ? 1u : 0u));
  NEED(stats.failed_allocations == (counted ? 1u : 0u));
  NEED(stats.live == (counted ? 1u : 0u));
  NEED(stats.peak == (counted ? 100u : 0u));

  i = 0;
  NEED(heapwise_pool_for_each(pool, count, &i) == HEAPWISE_OK);
  NEED(i == 1); /* the last one is still out */
  NEED(heapwise_pool_for_each(pool, NULL, &i) == HEAPWISE_ERROR_INVALID);
  NEED(heapwise_pool_allocate_many(pool, many, 100) == 99);
  NEED(heapwise_pool_deallocate_many(pool, many, 98) == 98);
  NEED(heapwise_pool_shrink(pool) == HEAPWISE_OK);
  NEED(heapwise_pool_shrink(NULL) == HEAPWISE_ERROR_INVALID);

  heapwise_pool_reset(pool);
  NEED(heapwise_pool_contains(pool, blocks[99]) == 0);
  for (i = 0; i < 100; ++i) {
    NEED(heapwise_pool_allocate(pool) != NULL);
  }
  heapwise_pool_destroy(pool);
  return 0;
}
