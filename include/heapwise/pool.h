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
  HEAPWISE_LOCK_FREE,      /* all threads; none waits for another, except while the pool grows */
  /* All threads, each with a cache of its own: the fastest policy for many threads. A fixed pool
     needs blocks for the caches, too. If the program holds at most `live` blocks at a time, no
     request fails if capacity >= live + (threads - 1) * heapwise_pool_cached_blocks_max(pool). */
  HEAPWISE_THREAD_CACHED,
  HEAPWISE_MUTEX = HEAPWISE_LOCKED /* the former name; deprecated */
} heapwise_policy;

/* How a pool that has no free block gets more. */
typedef enum heapwise_growth {
  HEAPWISE_GROWTH_FIXED,     /* it does not grow */
  HEAPWISE_GROWTH_GEOMETRIC, /* by chunks that double its capacity */
  HEAPWISE_GROWTH_LINEAR     /* by chunks of growth_step blocks */
} heapwise_growth;

/* Why a function failed. heapwise_error_message explains it in words. */
typedef enum heapwise_error {
  HEAPWISE_OK,
  HEAPWISE_ERROR_INVALID,   /* such as a size of 0, or an alignment that is not a power of two */
  HEAPWISE_ERROR_TOO_LARGE, /* sizes whose product is above PTRDIFF_MAX */
  HEAPWISE_ERROR_NO_MEMORY, /* the operating system has no more memory */
  HEAPWISE_ERROR_FOREIGN    /* the pointer is not a block of this pool */
} heapwise_error;

/* Start from HEAPWISE_POOL_OPTIONS_INIT. It sets struct_size, and turns off options that are added
   later. The library reads at most struct_size bytes, so a program that was compiled with an older
   header works with a newer library. If the header is newer than the library, an option that the
   library does not know must be 0. */
typedef struct heapwise_pool_options {
  size_t struct_size;     /* sizeof(heapwise_pool_options) in the program's header */
  size_t block_size;      /* bytes that the user may write to in each block; not 0 */
  size_t block_count;     /* blocks of the first chunk; capacity of a fixed pool; not 0 */
  size_t alignment;       /* a power of two; 0: as block_size allows, up to max_align_t's */
  size_t max_block_count; /* the capacity beyond which a pool does not grow, at least
                             block_count; 0: no limit */
  int growth;             /* a heapwise_growth */
  int checked;            /* not 0: double frees, stray writes and corruption abort the program
                             with a message */
  int counted;            /* not 0: heapwise_pool_get_stats counts how the pool was used */
  int reserved;           /* 0 */
  size_t growth_step;     /* for HEAPWISE_GROWTH_LINEAR; 0: block_count */
} heapwise_pool_options;

#define HEAPWISE_POOL_OPTIONS_INIT \
  {sizeof(heapwise_pool_options), 0, 0, 0, 0, HEAPWISE_GROWTH_FIXED, 0, 0, 0, 0}

/* Start from HEAPWISE_POOL_STATS_INIT. It sets struct_size. The library writes at most struct_size
   bytes, and writes 0 to members that it does not know. */
typedef struct heapwise_pool_stats {
  size_t struct_size; /* sizeof(heapwise_pool_stats) in the program's header */
  size_t block_size;
  size_t stride_bytes; /* from one block to the next */
  size_t alignment;
  size_t capacity; /* blocks of all chunks together, free or not */
  size_t chunk_count;
  size_t reserved_bytes; /* obtained from the operating system for blocks */
  size_t budget_bytes;   /* all bytes that the pool takes beside its blocks */
  /* The other members are 0 unless the pool is `counted`. */
  size_t allocations;        /* blocks that the pool handed out */
  size_t frees;              /* blocks that the pool took back */
  size_t refused_frees;      /* pointers that the pool refused; NULL is not counted */
  size_t failed_allocations; /* requests that found no free block */
  size_t live;               /* blocks that are in use now */
  size_t peak;               /* the largest value of `live` so far */
} heapwise_pool_stats;

#define HEAPWISE_POOL_STATS_INIT \
  {sizeof(heapwise_pool_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* A pool, from heapwise_pool_create until heapwise_pool_destroy. */
typedef struct heapwise_pool heapwise_pool;

/* `policy` is a heapwise_policy.
   Returns: a new pool; NULL if the options are NULL or invalid, or if there is no memory. Then
   errno is EINVAL, EOVERFLOW or ENOMEM, and heapwise_last_error says more. Thread safety: all
   threads at once. */
heapwise_pool* heapwise_pool_create(const heapwise_pool_options* options, int policy);

/* Effects: gives all memory back, also of blocks that are still in use. Does nothing for NULL.
   Requires: no thread is in the middle of an operation on the pool. */
void heapwise_pool_destroy(heapwise_pool* pool);

/* If the policy is thread-safe, all threads may call the functions below at once. With
   HEAPWISE_UNSYNCHRONIZED, one thread at a time may call them. O(1), except for growth. */

/* Returns: a block of block_size bytes; NULL with errno ENOMEM if the pool is exhausted; NULL with
   errno EINVAL if the pool is NULL. */
void* heapwise_pool_allocate(heapwise_pool* pool);

/* Effects: takes a block back. Does nothing for NULL or for a pointer that is not a block of this
   pool. If the pool is `checked`, such a pointer aborts the program. Leaves errno as it was, as
   free does.
   Returns: HEAPWISE_OK; HEAPWISE_ERROR_FOREIGN if the pointer was refused; HEAPWISE_ERROR_INVALID
   if the pool is NULL. */
int heapwise_pool_deallocate(heapwise_pool* pool, void* block);

/* Effects: allocates up to `count` blocks and writes them to `blocks`. This is faster than one call
   for each block.
   Returns: how many blocks it allocated: fewer than `count` if the pool is exhausted; 0 if the pool
   or `blocks` is NULL. */
size_t heapwise_pool_allocate_many(heapwise_pool* pool, void** blocks, size_t count);

/* Effects: as heapwise_pool_deallocate for each of `count` blocks. Leaves errno as it was.
   Returns: how many blocks were taken back: all except NULL and refused pointers. */
size_t heapwise_pool_deallocate_many(heapwise_pool* pool, void* const* blocks, size_t count);

/* Returns: 1 if the address is the first byte of a block that was handed out at least once, else 0.
   It does not say whether the block is live now. */
int heapwise_pool_contains(const heapwise_pool* pool, const void* address);

/* The former name; deprecated. */
#define heapwise_pool_owns heapwise_pool_contains

/* Effects: all blocks are free again. Requires: no other thread uses the pool meanwhile. The
   program no longer uses blocks that it allocated before. */
void heapwise_pool_reset(heapwise_pool* pool);

/* Effects: calls visit(block, context) for each block that is in use, in no certain order. `visit`
   may free this block, but no other one.
   Requires: no other thread uses the pool meanwhile.
   Returns: HEAPWISE_OK; HEAPWISE_ERROR_NO_MEMORY if there is no memory for one bit for each block;
   HEAPWISE_ERROR_INVALID if the pool or `visit` is NULL. O(capacity). */
int heapwise_pool_for_each(heapwise_pool* pool, void (*visit)(void* block, void* context),
                           void* context);

/* Effects: gives back each chunk that is newer than the last block in use, and the pages behind
   that block. Requires and returns: as heapwise_pool_for_each. O(capacity). */
int heapwise_pool_shrink(heapwise_pool* pool);

/* Returns: as the member of heapwise_pool_stats with this name says; 0 if the pool is NULL. */
size_t heapwise_pool_block_size(const heapwise_pool* pool);
size_t heapwise_pool_stride_bytes(const heapwise_pool* pool);
size_t heapwise_pool_alignment(const heapwise_pool* pool);
size_t heapwise_pool_capacity(const heapwise_pool* pool);
size_t heapwise_pool_chunk_count(const heapwise_pool* pool);
size_t heapwise_pool_reserved_bytes(const heapwise_pool* pool);
size_t heapwise_pool_budget_bytes(const heapwise_pool* pool);

/* Returns: the largest number of free blocks that the cache of one thread may keep from other
   threads; 0 for a policy without caches, or if the pool is NULL. See HEAPWISE_THREAD_CACHED. */
size_t heapwise_pool_cached_blocks_max(const heapwise_pool* pool);

/* Effects: fills in the members of `stats` within its struct_size. If other threads use the pool
   meanwhile, each number is right, but the numbers are not from one moment.
   Returns: HEAPWISE_OK; HEAPWISE_ERROR_INVALID if `pool` or `stats` is NULL or struct_size makes no
   sense. */
int heapwise_pool_get_stats(const heapwise_pool* pool, heapwise_pool_stats* stats);

/* Returns: why this thread's last heapwise_pool_create failed; HEAPWISE_OK if it did not fail. */
heapwise_error heapwise_last_error(void);

/* Returns: the same in words: which option was refused and why. The text is valid until this
   thread's next heapwise_pool_create. */
const char* heapwise_last_error_message(void);

/* Returns: one line that explains an error, for any number. The text is never freed. */
const char* heapwise_error_message(int error);

/* Returns: the name of the policy as in the C++ headers; "unknown" for any other number. */
const char* heapwise_policy_name(int policy);

#ifdef __cplusplus
}
#endif

#endif
