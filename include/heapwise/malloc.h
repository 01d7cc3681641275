/* The heap, from C: every function of malloc under a name of its own, heaps that are destroyed as a
 * whole, and statistics of the heap. Needs libheapwise or libheapwise-malloc.
 *
 * libheapwise-malloc exports the same functions under the names of the C library too (malloc, free,
 * operator new ...), from the same heap: with it, heapwise_malloc and malloc are one.
 *
 * Thread safety: all functions may be called by all threads at once, unless they say otherwise. None
 * may be called from a signal handler that interrupted one of them. A forked child may use all.
 * Errors: if there is no memory, functions that return a pointer return NULL and set errno to ENOMEM.
 * Complexity: constant on average; a system call now and then.
 */
#ifndef HEAPWISE_MALLOC_H
#define HEAPWISE_MALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns: a block of at least `size` bytes, aligned to 16. Two live blocks never share an address,
 * of 0 bytes too. */
void* heapwise_malloc(size_t size);

/* Returns: a block of `count * size` zero bytes; NULL when the product is more than a size_t holds. */
void* heapwise_calloc(size_t count, size_t size);

/* Effects: makes the block `size` bytes long, at its place or at another one, and keeps the smaller
 * number of its bytes. A failure leaves it as it was. `block` NULL: as heapwise_malloc. `size` 0 with
 * a block: frees it and returns NULL, errno as before (as glibc does). A block of a heap of its own
 * stays in that heap. The block may be of any size class from then on: it is not freed by the sized
 * functions of heap.hpp.
 * Complexity: blocks of many pages are moved by moving their pages. */
void* heapwise_realloc(void* block, size_t size);

/* Effects: gives the block back. NULL does nothing. Keeps errno.
 * Requires: a live block of this heap. If the heap notices that the address is not one, it writes a
 * line to standard error and ends the process (option HEAPWISE_MALLOC_INVALID_FREE). */
void heapwise_free(void* block);

/* As heapwise_free, for callers that know the size they asked for, and the alignment. */
void heapwise_free_sized(void* block, size_t size);
void heapwise_free_aligned_sized(void* block, size_t alignment, size_t size);

/* Returns: a block aligned to `alignment`. heapwise_aligned_alloc wants a power of two (else NULL and
 * EINVAL); heapwise_memalign rounds up to one, as glibc does. Any size will do. */
void* heapwise_aligned_alloc(size_t alignment, size_t size);
void* heapwise_memalign(size_t alignment, size_t size);

/* Returns: 0 and the block in `*block`; EINVAL (not a power of two, or not a multiple of a pointer's
 * size) or ENOMEM with `*block` and errno as they were. */
int heapwise_posix_memalign(void** block, size_t alignment, size_t size);

/* Returns: a block aligned to a page; heapwise_pvalloc rounds the size up to whole pages. */
void* heapwise_valloc(size_t size);
void* heapwise_pvalloc(size_t size);

/* Returns: how many bytes of a live block may be used, at least what was asked for; 0 for NULL. It is
 * heapwise_good_size of the request, or more. */
size_t heapwise_malloc_usable_size(void* block);

/* Returns: the size to which a request of `size` bytes is rounded up. A request of that size wastes
 * nothing. */
size_t heapwise_good_size(size_t size);

/* Effects: gives all memory that is free back to the system, as far as whole pages are free, and what
 * the calling thread keeps for itself to all. Returns: the bytes given back. */
size_t heapwise_malloc_purge(void);

/* Effects: gives all free blocks that the calling thread keeps for itself back, so that other threads
 * can use them, and their pages can go back to the system later. The thread may go on to allocate and
 * free. Its next requests cost more, as those of a new thread do. For a thread that will wait for
 * long, such as one of a pool without work.
 * Complexity: linear in the free blocks that it keeps: some microseconds, at most a millisecond. */
void heapwise_thread_idle(void);

/* Statistics of the heap, in bytes and in counts. Other threads are not stopped meanwhile: each number
 * is right, and two of them may be of slightly different moments. */
typedef struct heapwise_malloc_statistics {
  size_t reserved_bytes;    /* addresses that the heap may come to use; they cost nothing */
  size_t committed_bytes;   /* of them, those that may be touched */
  size_t span_bytes;        /* in spans, for small blocks and large ones */
  size_t large_bytes;       /* of them, in large blocks */
  size_t cached_bytes;      /* free blocks in the calling thread's cache and between caches */
  size_t free_bytes;        /* free blocks inside spans */
  size_t dirty_bytes;       /* free pages that the system still counts as ours */
  size_t purged_bytes;      /* given back to the system so far; grows for ever */
  size_t spans;             /* spans of small blocks, mixed ones too */
  size_t large_blocks;      /* large blocks in use */
  size_t threads;           /* threads that have a cache */
  size_t heaps;             /* heaps made by heapwise_heap_create */
  size_t refills;           /* times a cache was filled from a bin; grows for ever */
  size_t flushes;           /* times a cache gave a batch to a bin; grows for ever */
  size_t metadata_bytes;    /* of the tables of the heap itself */
} heapwise_malloc_statistics;

/* Effects: fills `*into`. */
void heapwise_malloc_statistics_get(heapwise_malloc_statistics* into);

/* Effects: writes one page for people to standard error: the numbers above, then one line for each
 * size class in use. Allocates nothing. HEAPWISE_MALLOC_STATS=1 does it at exit. */
void heapwise_malloc_stats(void);

/* A separate heap. Its blocks are freed one by one (heapwise_free) or all at once, with the heap. It
 * takes its memory from where heapwise_malloc does.
 * Thread safety: one heap may be used by one thread at a time; heapwise_free of its blocks may be
 * called by any thread, as long as the heap lives. */
typedef struct heapwise_heap heapwise_heap;

/* Returns: an empty heap, or NULL. */
heapwise_heap* heapwise_heap_create(void);

/* Returns: a block of the heap, or NULL; heapwise_heap_malloc as heapwise_malloc does, and
 * heapwise_heap_aligned_alloc as heapwise_aligned_alloc. */
void* heapwise_heap_malloc(heapwise_heap* heap, size_t size);
void* heapwise_heap_aligned_alloc(heapwise_heap* heap, size_t alignment, size_t size);

/* Effects: frees every block of the heap, and the heap. NULL does nothing.
 * Requires: no block of the heap is used, freed or being freed from now on.
 * Complexity: linear in the spans of the heap, not in its blocks. */
void heapwise_heap_destroy(heapwise_heap* heap);

#ifdef __cplusplus
}
#endif

#endif
