/* The heap, from C: every function of malloc under a name of its own, separate heaps that are
 * destroyed as a whole, and statistics of the heap. Needs libheapwise or libheapwise-malloc.
 *
 * libheapwise-malloc also exports these functions under the names of the C library (malloc, free,
 * operator new ...), and all use the same heap. With this library, heapwise_malloc and malloc are
 * the same.
 *
 * Thread safety: all functions may be called by all threads at once, unless they say otherwise. No
 * function may be called from a signal handler that interrupted one of them. A forked child may use
 * all functions.
 * Errors: if there is no memory, functions that return a pointer return NULL and set errno to
 * ENOMEM.
 * Complexity: constant on average, with a system call now and then.
 */
#ifndef HEAPWISE_MALLOC_H
#define HEAPWISE_MALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns: a block of at least `size` bytes, aligned to 16. Two live blocks never have the same
 * address, not even blocks of 0 bytes. */
void* heapwise_malloc(size_t size);

/* Returns: a block of `count * size` zero bytes; NULL if the product is more than a size_t
 * holds. */
void* heapwise_calloc(size_t count, size_t size);

/* Effects: makes the block `size` bytes long, at its place or at another one. The contents stay, up
 * to the smaller of the two sizes. After a failure the block is as it was. If `block` is NULL: as
 * heapwise_malloc. If `size` is 0 and `block` is not NULL: frees the block, returns NULL and leaves
 * errno as it was (as glibc does). A block of a separate heap stays in that heap.
 * The resized block may be of any size class, so the sized functions of heap.hpp must not free it.
 * Complexity: a block of many pages is moved by moving its pages. */
void* heapwise_realloc(void* block, size_t size);

/* As heapwise_realloc for `count * size` bytes. Returns: NULL, with errno ENOMEM and the block as
 * it was, if the product is more than a size_t holds. */
void* heapwise_reallocarray(void* block, size_t count, size_t size);

/* As heapwise_malloc, for callers that can use more than they asked for, such as containers that
 * grow. Effects: sets `*usable_size` to the bytes that may be used, at least `size`; to 0 without a
 * block. */
void* heapwise_malloc_at_least(size_t size, size_t* usable_size);

/* Effects: tries to make the block at least `size` bytes long without moving it. Returns: how many
 * bytes of the block may be used now, which is less than `size` if it cannot grow at its place.
 * Requires: a live block of this heap, not NULL. */
size_t heapwise_malloc_grow(void* block, size_t size);

/* Effects: frees the block. Does nothing for NULL. Leaves errno as it was.
 * Requires: a live block of this heap. If the heap notices that the address is not a live block, it
 * writes a line to standard error and ends the process (option HEAPWISE_MALLOC_INVALID_FREE). */
void heapwise_free(void* block);

/* As heapwise_free, for callers that know the size and the alignment that they asked for. */
void heapwise_free_sized(void* block, size_t size);
void heapwise_free_aligned_sized(void* block, size_t alignment, size_t size);

/* Returns: a block aligned to `alignment`. If `alignment` is not a power of two,
 * heapwise_aligned_alloc returns NULL with errno EINVAL, and heapwise_memalign rounds it up to one,
 * as glibc does. `size` may be any number. */
void* heapwise_aligned_alloc(size_t alignment, size_t size);
void* heapwise_memalign(size_t alignment, size_t size);

/* Returns: 0, with the block in `*block`; EINVAL if `alignment` is not a power of two or not a
 * multiple of a pointer's size; ENOMEM. After an error, `*block` and errno are as they were. */
int heapwise_posix_memalign(void** block, size_t alignment, size_t size);

/* Returns: a block aligned to a page; heapwise_pvalloc rounds the size up to whole pages. */
void* heapwise_valloc(size_t size);
void* heapwise_pvalloc(size_t size);

/* Returns: how many bytes of a live block may be used, at least the requested size; 0 for NULL. It
 * is heapwise_good_size of the request, or more. */
size_t heapwise_malloc_usable_size(void* block);

/* Returns: the size to which a request of `size` bytes is rounded up. A request of exactly the
 * returned size wastes no bytes. */
size_t heapwise_good_size(size_t size);

/* Effects: gives back to the system all whole pages of memory that is free. Free blocks that the
 * calling thread keeps for itself become available to all threads. Returns: the bytes given
 * back. */
size_t heapwise_malloc_purge(void);

/* Effects: gives free memory back to the system until `bytes` went back or no more is free; at most
 * 16 MiB more than asked for. It takes first what costs least: free memory in one piece, then what
 * threads keep, then pages between blocks in use. Meant for a service that is told that memory is
 * short, and does not want to lose all of its free memory. Returns: the bytes given back. */
size_t heapwise_malloc_release(size_t bytes);

/* Effects: from now on the heap uses at most this much memory for blocks, as with the option
 * HEAPWISE_MALLOC_LIMIT_MIB; 0: there is no limit. Blocks in use stay. While they are more than the
 * limit, requests that need more memory fail. */
void heapwise_malloc_set_limit(size_t bytes);

/* Effects: from now on, while the heap uses more memory for blocks than this, what is free of it
 * goes back to the system at once, and not after the delay below, as with the option
 * HEAPWISE_MALLOC_SOFT_LIMIT_MIB; 0: there is no such limit. No request fails because of it, but
 * one that makes the heap larger may take longer. */
void heapwise_malloc_set_soft_limit(size_t bytes);

/* Effects: free memory goes back to the system about this long after its last use, as with the
 * option HEAPWISE_MALLOC_PURGE_DELAY_MS. The wait that is in progress ends as it was planned. */
void heapwise_malloc_set_purge_delay(unsigned int milliseconds);

/* Effects: gives back all free blocks that the calling thread keeps for itself. Then other threads
 * can use them, and their pages can go back to the system later. The thread may allocate and free
 * afterwards. Its next requests then cost more, as the first requests of a new thread do. Meant for
 * a thread that will wait for a long time, such as a thread of a thread pool without work.
 * Complexity: linear in the free blocks that the thread keeps: some microseconds, at most a
 * millisecond. */
void heapwise_thread_idle(void);

/* What a thread has allocated and freed, in bytes and in blocks; none of these ever falls. The
 * bytes of a block are those that heapwise_malloc_usable_size tells. A block that realloc moves or
 * makes longer or shorter counts as freed and as allocated again. Blocks of separate heaps do not
 * count. */
typedef struct heapwise_thread_counters {
  size_t allocated_bytes;
  size_t freed_bytes; /* of blocks that other threads allocated, too */
  size_t allocated_blocks;
  size_t freed_blocks;
} heapwise_thread_counters;

/* Effects: from its first call in a thread on, what that thread allocates and frees is counted.
 * Returns: the counters of the calling thread, or NULL without memory. They go on counting at the
 * same address until the thread ends, so a thread calls it once, and then takes the difference of
 * two readings, for instance before and after a request of a service.
 * Thread safety: only the thread itself may read its counters.
 * Complexity: in a thread that counts, a small block and its free take some hundred instructions
 * more. Other threads pay nothing. */
const heapwise_thread_counters* heapwise_thread_counters_get(void);

/* Statistics of the heap, in bytes and in counts. Other threads keep running meanwhile. Each number
 * is right, but two numbers may be from slightly different moments. */
typedef struct heapwise_malloc_statistics {
  size_t reserved_bytes;  /* addresses that the heap may come to use; they cost nothing */
  size_t committed_bytes; /* part of reserved_bytes: addresses that may be touched */
  size_t span_bytes;      /* in spans, for small blocks and large ones */
  size_t large_bytes;     /* part of span_bytes: large blocks */
  size_t cached_bytes;    /* free blocks in the calling thread's cache and between caches */
  size_t free_bytes;      /* free blocks inside spans */
  size_t dirty_bytes;     /* free pages that the system still counts as ours */
  size_t purged_bytes;    /* given back to the system so far; never falls */
  size_t spans;           /* spans of small blocks, mixed ones too */
  size_t large_blocks;    /* large blocks in use */
  size_t threads;         /* threads that have a cache */
  size_t heaps;           /* heaps made by heapwise_heap_create */
  size_t refills;         /* how often a cache was filled from a bin; never falls */
  size_t flushes;         /* how often a cache gave a batch to a bin; never falls */
  size_t metadata_bytes;  /* in the tables of the heap itself */
} heapwise_malloc_statistics;

/* Effects: fills `*into`. */
void heapwise_malloc_statistics_get(heapwise_malloc_statistics* into);

/* Effects: writes one page of text to standard error: the numbers above, then one line for each
 * size class in use. Allocates nothing. With HEAPWISE_MALLOC_STATS=1, the library does this at
 * exit. */
void heapwise_malloc_stats(void);

/* Effects: writes the statistics as one object of JSON and a terminating 0 to `text`: the name of
 * the profile, each member of heapwise_malloc_statistics, and for each size class in use an object
 * in `classes` (block_bytes, spans, blocks, free_blocks, batch_blocks). Text that does not fit into
 * `capacity` bytes is cut off. Allocates nothing. Returns: the bytes that the whole text needs,
 * without the terminating 0. If they are `capacity` or more, the text was cut off.
 * Requires: room for `capacity` bytes; `text` may be NULL if that is 0. */
size_t heapwise_malloc_statistics_json(char* text, size_t capacity);

/* Effects: writes a heap profile of the living process to a file, in the format of pprof: how many
 * blocks and bytes are in use now, by the calls that allocated them. They are estimates by a sample
 * of the blocks, which the option HEAPWISE_MALLOC_PROFILE_EVERY begins when the program starts.
 * Allocates nothing. An older file of that name is replaced when the profile is complete.
 * Returns: 0; -1 with errno: ENOTSUP if no blocks are sampled, EBUSY while another profile is
 * written, or why the file could not be written. May be called from a signal handler. */
int heapwise_malloc_profile(const char* path);

/* A separate heap. Its blocks are freed one by one (heapwise_free), or all at once with the heap.
 * It takes its memory from the same place as heapwise_malloc.
 * Thread safety: one thread at a time may use a heap. Any thread may call heapwise_free for its
 * blocks as long as the heap lives. */
typedef struct heapwise_heap heapwise_heap;

/* Returns: an empty heap, or NULL. */
heapwise_heap* heapwise_heap_create(void);

/* Returns: a block of the heap, or NULL: heapwise_heap_malloc as heapwise_malloc, and
 * heapwise_heap_aligned_alloc as heapwise_aligned_alloc. */
void* heapwise_heap_malloc(heapwise_heap* heap, size_t size);
void* heapwise_heap_aligned_alloc(heapwise_heap* heap, size_t alignment, size_t size);

/* Effects: frees every block of the heap, and the heap. Does nothing for NULL.
 * Requires: from now on, no block of the heap is used or freed, and no thread is freeing one.
 * Complexity: linear in the spans of the heap, not in its blocks. */
void heapwise_heap_destroy(heapwise_heap* heap);

#ifdef __cplusplus
}
#endif

#endif
