/* Pools for C: blocks of one size, allocated and freed in constant time. Clean in C89. */
#ifndef HEAPWISE_POOL_H
#define HEAPWISE_POOL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerations are passed as int, whose size no compiler flag changes. */

/* How threads are kept apart. */
typedef enum heapwise_policy {
  HEAPWISE_UNSYNCHRONIZED, /* one thread at a time, at no cost */
  HEAPWISE_LOCKED,         /* all threads, one lock */
  HEAPWISE_LOCK_FREE,      /* all threads, none ever waits for another */
  /* All threads, each with a cache of its own: the fastest for many. A fixed pool needs blocks for
     the caches too: with at most `live` blocks out at a time, a request is never refused if
     capacity >= live + (threads - 1) * heapwise_pool_cached_blocks_max(pool). */
  HEAPWISE_THREAD_CACHED,
  HEAPWISE_MUTEX = HEAPWISE_LOCKED /* the former name; deprecated */
} heapwise_policy;

/* How a pool that has no free block gets more. */
typedef enum heapwise_growth {
  HEAPWISE_GROWTH_FIXED,     /* not at all */
  HEAPWISE_GROWTH_GEOMETRIC, /* by chunks that double its capacity */
  HEAPWISE_GROWTH_LINEAR     /* by chunks of growth_step blocks */
} heapwise_growth;

/* Why a function failed; heapwise_error_message says it in words. */
typedef enum heapwise_error {
  HEAPWISE_OK,
  HEAPWISE_ERROR_INVALID,   /* a size of 0, an alignment that is not a power of two, ... */
  HEAPWISE_ERROR_TOO_LARGE, /* sizes whose product is above PTRDIFF_MAX */
  HEAPWISE_ERROR_NO_MEMORY, /* the operating system has none left */
  HEAPWISE_ERROR_FOREIGN    /* the pointer is not a block of this pool */
} heapwise_error;

/* Start from HEAPWISE_POOL_OPTIONS_INIT: it sets the size, and options that are added later are
   off. The library reads no more than struct_size bytes, so that a program that was compiled with
   an older header works with a newer library. The other way round an option that the library does
   not know must be 0. */
typedef struct heapwise_pool_options {
  size_t struct_size;     /* sizeof(heapwise_pool_options), as the program knows it */
  size_t block_size;      /* bytes that the user may write to in each block; not 0 */
  size_t block_count;     /* blocks of the first chunk; when fixed, the capacity; not 0 */
  size_t alignment;       /* a power of two, or 0: as block_size allows, up to max_align_t's */
  size_t max_block_count; /* the capacity beyond which a pool does not grow, at least
                             block_count; 0: no limit */
  int growth;             /* a heapwise_growth */
  int checked;            /* not 0: double frees, stray writes and corruption abort, with a message */
  int counted;            /* not 0: heapwise_pool_get_stats tells how the pool was used */
  int reserved;           /* 0 */
  size_t growth_step;     /* for HEAPWISE_GROWTH_LINEAR; 0: block_count */
} heapwise_pool_options;

#define HEAPWISE_POOL_OPTIONS_INIT \
  {sizeof(heapwise_pool_options), 0, 0, 0, 0, HEAPWISE_GROWTH_FIXED, 0, 0, 0, 0}

/* Start from HEAPWISE_POOL_STATS_INIT: it sets the size. The library writes no more than
   struct_size bytes, and 0 to members that it does not know. */
typedef struct heapwise_pool_stats {
  size_t struct_size; /* sizeof(heapwise_pool_stats), as the program knows it */
  size_t block_size;
  size_t stride_bytes; /* from one block to the next */
  size_t alignment;
  size_t capacity; /* blocks of all chunks together, free or not */
  size_t chunk_count;
  size_t reserved_bytes; /* obtained from the operating system for blocks */
  size_t budget_bytes;   /* all that the pool takes beside its blocks */
  /* The rest is 0 unless the pool is `counted`. */
  size_t allocations;        /* blocks handed out */
  size_t frees;              /* blocks taken back */
  size_t refused_frees;      /* pointers that the pool refused; NULL is not counted */
  size_t failed_allocations; /* requests that found the pool exhausted */
  size_t live;               /* blocks that are out now */
  size_t peak;               /* the largest `live` so far */
} heapwise_pool_stats;

#define HEAPWISE_POOL_STATS_INIT \
  {sizeof(heapwise_pool_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* A pool, from heapwise_pool_create until heapwise_pool_destroy. */
typedef struct heapwise_pool heapwise_pool;

/* policy: a heapwise_policy.
   Returns: a new pool; NULL if the options are NULL or nonsense or there is no memory. Then errno
   is EINVAL, EOVERFLOW or ENOMEM, and heapwise_last_error says more. Thread safety: all. */
heapwise_pool *heapwise_pool_create(const heapwise_pool_options *options, int policy);

/* Effects: gives all memory back, blocks that are still out included; nothing for NULL.
   Requires: no thread is in the middle of an operation on the pool. */
void heapwise_pool_destroy(heapwise_pool *pool);

/* All functions below may be called by all threads at once if the policy is thread-safe; with
   HEAPWISE_UNSYNCHRONIZED by one at a time. O(1), except for growth. */

/* Returns: a block of block_size bytes; NULL on exhaustion (errno is ENOMEM then) and for a pool
   that is NULL (errno is EINVAL). */
void *heapwise_pool_allocate(heapwise_pool *pool);

/* Effects: takes a block back; nothing for NULL or for a pointer that is not a block of this pool. A
   `checked` pool aborts the program for such a pointer.
   Returns: HEAPWISE_OK; HEAPWISE_ERROR_FOREIGN if the pointer was refused; HEAPWISE_ERROR_INVALID
   for a pool that is NULL. Keeps errno, as free does. */
int heapwise_pool_deallocate(heapwise_pool *pool, void *block);

/* Effects: allocates up to `count` blocks, and writes them to `blocks`: faster than one by one.
   Returns: how many: fewer if the pool is exhausted; 0 for a pool or blocks that are NULL. */
size_t heapwise_pool_allocate_many(heapwise_pool *pool, void **blocks, size_t count);

/* Effects: as heapwise_pool_deallocate for each of `count` blocks.
   Returns: how many were taken back: all except NULL and refused pointers. Keeps errno. */
size_t heapwise_pool_deallocate_many(heapwise_pool *pool, void *const *blocks, size_t count);

/* Returns: 1 if the address is the first byte of a block that was handed out at least once, else 0.
   It does not say whether the block is live now. */
int heapwise_pool_contains(const heapwise_pool *pool, const void *address);

/* The former name; deprecated. */
#define heapwise_pool_owns heapwise_pool_contains

/* Effects: all blocks are free again. Requires: no other thread uses the pool meanwhile; blocks
   that are out are never used again. */
void heapwise_pool_reset(heapwise_pool *pool);

/* Effects: calls visit(block, context) for each block that is out, in no certain order; `visit` may
   free this block, but no other one.
   Requires: no other thread uses the pool meanwhile.
   Returns: HEAPWISE_OK; HEAPWISE_ERROR_NO_MEMORY if there is none for a bit for each block;
   HEAPWISE_ERROR_INVALID for a pool or function that is NULL. O(capacity). */
int heapwise_pool_for_each(heapwise_pool *pool, void (*visit)(void *block, void *context),
                           void *context);

/* Effects: gives back each chunk that is newer than the last block that is out, and the pages behind
   that block. Requires and returns: as heapwise_pool_for_each. O(capacity). */
int heapwise_pool_shrink(heapwise_pool *pool);

/* Returns: see heapwise_pool_stats; 0 for a pool that is NULL. */
size_t heapwise_pool_block_size(const heapwise_pool *pool);
size_t heapwise_pool_stride_bytes(const heapwise_pool *pool);
size_t heapwise_pool_alignment(const heapwise_pool *pool);
size_t heapwise_pool_capacity(const heapwise_pool *pool);
size_t heapwise_pool_chunk_count(const heapwise_pool *pool);
size_t heapwise_pool_reserved_bytes(const heapwise_pool *pool);
size_t heapwise_pool_budget_bytes(const heapwise_pool *pool);

/* Returns: how many free blocks the cache of one thread may keep from other threads, at most; 0 for
   a policy without caches and for a pool that is NULL. See HEAPWISE_THREAD_CACHED. */
size_t heapwise_pool_cached_blocks_max(const heapwise_pool *pool);

/* Effects: fills in the members of `stats` within its struct_size.
   Returns: HEAPWISE_OK, or HEAPWISE_ERROR_INVALID if either is NULL or the size makes no sense.
   While other threads use the pool, each number is right but they are not of one moment. */
int heapwise_pool_get_stats(const heapwise_pool *pool, heapwise_pool_stats *stats);

/* Returns: why this thread's last heapwise_pool_create failed; HEAPWISE_OK if it succeeded. */
heapwise_error heapwise_last_error(void);

/* Returns: the same in words, which option and why: valid until the thread's next create. */
const char *heapwise_last_error_message(void);

/* Returns: one line that explains an error, for any number. It is never freed. */
const char *heapwise_error_message(int error);

/* Returns: the policy's name as in the C++ headers, "unknown" for any other number. */
const char *heapwise_policy_name(int policy);

#ifdef __cplusplus
}
#endif

#endif
