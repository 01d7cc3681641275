/* A garbage collector for C and C++: blocks live as long as the program can reach them, and need
 * not be freed. Conservative (it takes every word that may be an address for one), non-moving, mark
 * and sweep; its heap is its own. Needs libheapwise-gc.
 *
 * What keeps a block alive: a word that points to its first byte, in the static data of the program
 * or of a loaded library, in thread-local variables and pthread keys (all as far as the how-to
 * says), in added roots, or in a live block that is not atomic. A word on the stack or in a
 * register of a registered thread may point to any byte inside of it, or one past its end. Not
 * looked through: memory of malloc or mmap, and words that were changed (compressed, XORed).
 *
 * Thread safety: all functions may be called by all registered threads at once, none from a signal
 * handler. A thread that touches blocks must be registered; the one that starts the collector is.
 * The collector interrupts threads with a signal, SIGURG if no other is chosen. A forked child goes
 * on with the thread that forked, and may collect.
 * Errors: what returns a pointer returns NULL and sets errno to ENOMEM when there is no memory.
 */
#ifndef HEAPWISE_GC_H
#define HEAPWISE_GC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start from zeros: 0 stands for the default of each. The environment (HEAPWISE_GC_MARKERS and so
 * on, see the how-to) comes before what the program says. */
typedef struct heapwise_gc_options {
  /* How many threads mark. Default: as many as processors, at most 4. */
  size_t markers;
  /* Between two collections, twice the live bytes divided by this may be allocated (a quarter of
   * those of atomic blocks, three times those of blocks of 16 bytes, and 64 bytes more for each
   * larger block all of whose bytes are used). Default: 3, as in Boehm's collector. 1 is faster and
   * takes up to twice as much memory. */
  size_t free_space_divisor;
  /* The most that blocks may take. Default: as much as there is. */
  size_t limit_bytes;
  /* The most that a marker notes down at once. Default: 256 MiB. Less where addresses are limited.
   */
  size_t mark_stack_bytes;
  /* From as many live bytes on, collections mark beside the program, in a copy of the process: the
   * world stands still only while the system makes the copy. What the program writes meanwhile is
   * copied page by page, and what it allocates meanwhile counts as live. If it allocates half
   * of what it may between two collections, each thread that wants more rests now and then, for at
   * most 2 ms at once; at four times as much it waits. Where the system refuses a copy, the program
   * waits for marking as without this. The system is asked for huge pages for the heap. Default:
   * never. */
  size_t concurrent_bytes;
  /* 1: an address inside of a block counts wherever it is found, not only on stacks. 2: so does
   * the one past its end. Then blocks are a byte longer, as in Boehm's collector, and no allocation
   * is inlined. */
  int interior_pointers;
  /* 1: blocks have to be freed; those that are lost are reported after each heapwise_gc_collect and
   * at the end of the process. */
  int find_leaks;
  /* The signal that stops threads. Default: SIGURG. A handler that it had before the collector was
   * started gets what others send, with all signals blocked and on the stack in use. A default
   * action is not taken. */
  int signal;
  /* 1: each block has its size, its caller and a guard behind it. Blocks that were written behind
   * their end are reported, and lost ones with their caller. No allocation is fast. */
  int debug;
  /* 1: a thread that is not registered is registered by its first allocation, free or
   * heapwise_gc_get_weak, until it ends. What it knew of blocks before, nothing keeps. 0: the
   * process ends with a line on standard error. */
  int register_threads;
} heapwise_gc_options;

/* Effects: starts the collector and registers the calling thread; started before, only the latter.
 * `options` NULL: defaults. Allocating starts it too. Returns: 0; ENOMEM or EAGAIN;
 * EINVAL for a signal that cannot be used. */
int heapwise_gc_init(const heapwise_gc_options* options);

/* Returns: a block of at least `size` zero bytes, aligned to 16. */
void* heapwise_gc_malloc(size_t size);

/* Returns: a block that never holds addresses of blocks: it is not looked through, and its bytes
 * are anything. */
void* heapwise_gc_malloc_atomic(size_t size);

/* Returns: a block as that of heapwise_gc_malloc, aligned to `alignment`, which is a power of two
 * of at most 64 KiB. For another alignment: NULL, and errno is EINVAL. If heapwise_gc_realloc moves
 * the block, its new place is aligned to 16. */
void* heapwise_gc_malloc_aligned(size_t alignment, size_t size);

/* Which words of a block may hold addresses of blocks. */
typedef struct heapwise_gc_layout heapwise_gc_layout;

/* Returns: a layout: of each `element_bytes` bytes of a block, from its first byte on, the `count`
 * words at these offsets may hold addresses of blocks, and nothing else does. It lasts until the
 * end of the process: make one for each type. NULL with errno: EINVAL if element_bytes is 0 or an
 * offset lies behind it, or one of them is not a multiple of the size of an address, or there are
 * more offsets than words; ENOMEM. Thread safety: all, also for threads that are not registered.
 * Complexity: linear in `count`. */
const heapwise_gc_layout* heapwise_gc_make_layout(size_t element_bytes, const size_t* offsets,
                                                  size_t count);

/* What a marking function speaks to. */
typedef struct heapwise_gc_marking {
  void (*name)(const struct heapwise_gc_marking* marking,
               const void* address); /* the collector's */
} heapwise_gc_marking;

/* A marking function: called while marking, with a block that is reachable. It calls
 * heapwise_gc_mark_address with each address that the block holds, in whatever form: compressed,
 * with tags, as an offset. `size`: that of heapwise_gc_usable_size.
 *
 * It must expect the block in any state between two instructions of the program: with zeros that
 * nothing was written to yet, half changed, or as it was when the last address of it was dropped,
 * some collections ago. It may be called several times for a block, by several threads at once, in
 * threads of the collector with a stack of 128 KiB. The world stands still: threads may hold any
 * lock. Or it is called in a copy of the process (option `concurrent_bytes`), where what it writes
 * is lost. So it reads the block, `argument` and other memory that is never freed. It must not read
 * other blocks, which may be free, nor use thread-local variables; and it must not lock, wait,
 * allocate, throw, or call any other function of the collector. What it writes must be atomic. */
typedef void heapwise_gc_mark_function(const heapwise_gc_marking* marking, const void* block,
                                       size_t size, void* argument);

/* Returns: a layout of blocks whose addresses `function` knows. It lasts until the end of the
 * process. `argument` is not a root. NULL with errno: EINVAL if `function` is NULL; ENOMEM. Thread
 * safety: all, also for threads that are not registered. */
const heapwise_gc_layout* heapwise_gc_make_marked_layout(heapwise_gc_mark_function* function,
                                                         void* argument);

/* Effects: the block that the address is in is reachable, wherever in the block that is. An address
 * that is in no block does nothing. Requires: called by a marking function, with what it was called
 * with. */
static __inline__ void heapwise_gc_mark_address(const heapwise_gc_marking* marking,
                                                const void* address) {
  marking->name(marking, address);
}

/* Returns: a block as that of heapwise_gc_malloc, of which only the words that the layout names are
 * looked through: numbers and texts in it keep nothing. It takes 8 bytes more. A block of more than
 * 32,760 bytes is looked through as a whole, unless the layout has a marking function; with the
 * option `debug`, so is one of more than 32,728 bytes. If the block has a finalizer and cannot be
 * reached, what it leads to is found by its marking function, or in all of its words. Requires: a
 * layout of heapwise_gc_make_layout or heapwise_gc_make_marked_layout. */
void* heapwise_gc_malloc_typed(const heapwise_gc_layout* layout, size_t size);

/* Returns: a block as that of heapwise_gc_malloc, which is kept, as by heapwise_gc_keep, until
 * heapwise_gc_free. Meant for memory whose address the collector cannot find. */
void* heapwise_gc_malloc_uncollectable(size_t size);

/* Returns: the same, as heapwise_gc_malloc_atomic. */
void* heapwise_gc_malloc_atomic_uncollectable(size_t size);

/* Effects: the block is reachable, wherever its address is, until heapwise_gc_stop_keeping was
 * called as often or it is freed. Returns: 0; ENOMEM; EINVAL for an address where no block begins.
 * Complexity: constant on average; 48 to 96 bytes for each block that is kept. */
int heapwise_gc_keep(void* block);
void heapwise_gc_stop_keeping(void* block);

/* Returns: a block with the smaller number of `block`'s bytes, of the same kind; what is new is as
 * heapwise_gc_malloc or heapwise_gc_malloc_atomic leave it. `block` is freed; its finalizer, its
 * weak references and that it is kept go over to the new block. NULL: as heapwise_gc_malloc.
 * Without memory, `block` is as it was. An address that is not a block ends
 * the process with a line on standard error. */
void* heapwise_gc_realloc(void* block, size_t size);

/* Effects: gives a block back at once. Its finalizer is not called, and weak references to it are
 * empty. NULL does nothing. Requires: nobody uses the block any more.
 * An address that is not a block ends the process with a line on standard error. */
void heapwise_gc_free(void* block);

/* Effects: stops the world, marks what can be reached, and lets the rest be used again; never in a
 * copy of the process. */
void heapwise_gc_collect(void);

/* Effects: the same, and gives all free memory back to the system. */
void heapwise_gc_collect_and_release(void);

/* Effects: blocks may take no more than `limit_bytes` from now on; 0: as much as there is. What
 * they take already stays. Requires: the collector is started. */
void heapwise_gc_set_limit(size_t limit_bytes);

/* Effects: the option `free_space_divisor` has this value from the end of the next collection on;
 * 0: the default. Requires: the collector is started. */
void heapwise_gc_set_free_space_divisor(size_t divisor);

/* Effects: after heapwise_gc_disable nothing is collected but by heapwise_gc_collect, until
 * heapwise_gc_enable was called as often. */
void heapwise_gc_disable(void);
void heapwise_gc_enable(void);

/* Effects: from now on the calling thread's stack and registers are roots, until it ends or calls
 * heapwise_gc_unregister_thread. The destructors of pthread keys may still allocate, those of their
 * last round excepted. Returns: 0, also when it was registered before; or ENOMEM, also in that last
 * round. */
int heapwise_gc_register_thread(void);
void heapwise_gc_unregister_thread(void);

/* Effects: the words in [begin, end) are roots, until heapwise_gc_remove_roots gets the same two
 * addresses. Returns: 0, or ENOMEM. Requires: readable as long as it is added. */
int heapwise_gc_add_roots(const void* begin, const void* end);
void heapwise_gc_remove_roots(const void* begin, const void* end);

/* Effects: from now on an address `bytes` behind the first byte of a block counts as that of the
 * first byte, wherever it is found. Meant for addresses with a tag in their lower bits, and for
 * members that others lead to. Returns: 0; EINVAL from 4096 on. Thread safety: all, also for
 * threads that are not registered. */
int heapwise_gc_add_displacement(size_t bytes);

/* Effects: static data in [begin, end) of the program or of a library is not looked through, until
 * heapwise_gc_include_roots gets the same two addresses. Added roots, stacks and thread-local
 * variables are. Meant for large tables that never lead to blocks. Returns: 0, or ENOMEM.
 * Complexity: each collection compares each part of static data with all ranges. */
int heapwise_gc_exclude_roots(const void* begin, const void* end);
void heapwise_gc_include_roots(const void* begin, const void* end);

/* Effects: the words in [begin, end) are roots as those of a thread's own stack are: an address
 * anywhere inside of a block counts. Meant for the stacks of coroutines, from before the first
 * switch to one until after the last switch away from it. heapwise_gc_remove_stack ends this; it
 * gets the same two addresses. Returns: 0, or ENOMEM. Requires: readable as long as it is added,
 * so without the guard page. Thread safety: all, also for threads that are not registered.
 * Complexity: every collection looks through the whole range; removing is linear in the number of
 * added stacks. */
int heapwise_gc_add_stack(const void* begin, const void* end);
void heapwise_gc_remove_stack(const void* begin, const void* end);

/* Returns: the first byte of the block that `address` is in, which may be a free one; NULL if
 * it is in no block. */
void* heapwise_gc_base(const void* address);

/* Returns: how many bytes of a block may be used; 0 for an address that is not a block. */
size_t heapwise_gc_usable_size(const void* block);

/* Called with a block that nothing leads to any more. It may do anything with the block: allocate,
 * let it be reachable again, give it a finalizer once more. It must not throw. */
typedef void heapwise_gc_finalizer(void* block, void* argument);

/* Effects: after a collection has found that nothing leads to `block` but itself, `call` is called
 * once, by heapwise_gc_run_finalizers. Until it has returned, the block is kept, with all that it
 * leads to. Another finalizer of the block is replaced; NULL: none. `argument` is a root meanwhile:
 * from it, nothing may lead to `block`.
 *
 * Order: if one block with a finalizer leads to another, its finalizer is called first, and that of
 * the other after a later collection. Blocks with finalizers that lead to each other in a circle
 * wait for each other for ever; so does a block that leads to itself through other blocks. At the
 * end of the process, no finalizer is called.
 *
 * Returns: 0; ENOMEM; EINVAL for an address where no block begins. */
int heapwise_gc_set_finalizer(void* block, heapwise_gc_finalizer* call, void* argument);

/* Effects: as heapwise_gc_set_finalizer, without an order: the finalizer is called as soon as
 * nothing leads to the block but blocks that nothing leads to, whatever their finalizers. So all
 * blocks of a circle are finalized, in any order, and what the block leads to may have been
 * finalized before. Returns: the same. */
int heapwise_gc_set_unordered_finalizer(void* block, heapwise_gc_finalizer* call, void* argument);

/* Effects: calls the finalizers that are ready, in the calling thread, and those that become ready
 * meanwhile; no lock is held. The collector calls none of itself: a program that holds a lock while
 * it allocates need not fear that a finalizer wants the same one. Returns: how many were called.
 * Requires: a registered thread. */
size_t heapwise_gc_run_finalizers(void);

/* Called after a collection that made finalizers ready, in the thread that collected: inside of one
 * of its allocations, which may be anywhere. No lock of the collector is held. Meant for waking a
 * thread that calls heapwise_gc_run_finalizers. */
typedef void heapwise_gc_notice(void* argument);

/* Effects: `notice` is called from now on. NULL: none. */
void heapwise_gc_on_finalizers_ready(heapwise_gc_notice* notice, void* argument);

/* A collection that is over. */
typedef struct heapwise_gc_collection {
  size_t number;     /* of all collections, from 1 on */
  size_t pause_ns;   /* of all threads */
  size_t live_bytes; /* as far as it found */
  size_t heap_bytes; /* that spans and large blocks take */
  int in_copy;       /* 1: it marked in a copy of the process */
} heapwise_gc_collection;

/* Called after a collection, in the thread that ended it: inside of one of its allocations, which
 * may be anywhere. No lock of the collector is held. Where collections follow each other at once,
 * only the last one is told. */
typedef void heapwise_gc_collection_report(const heapwise_gc_collection* last, void* argument);

/* Effects: `report` is called from now on. NULL: none. */
void heapwise_gc_on_collection(heapwise_gc_collection_report* report, void* argument);

/* What happens, in this order. A collection that marks in a copy of the process (option
 * `concurrent_bytes`) tells of the world going on before marking ends; if the copy is given up, its
 * collection ends without a sweep. Without memory for its roots, a collection does not mark. The
 * world may be stopped several times in a row, and by heapwise_gc_stop_world it is stopped without
 * a collection. */
typedef enum heapwise_gc_event {
  HEAPWISE_GC_COLLECTION_BEGINS,
  HEAPWISE_GC_WORLD_STOPS,    /* threads are about to be interrupted */
  HEAPWISE_GC_WORLD_STOPPED,  /* all of them stand still */
  HEAPWISE_GC_MARKING_BEGINS, /* here or in a copy of the process */
  HEAPWISE_GC_MARKING_ENDS,
  HEAPWISE_GC_WORLD_RESUMES, /* threads are about to go on */
  HEAPWISE_GC_WORLD_RESUMED,
  HEAPWISE_GC_SWEEP_BEGINS, /* spans without a marked block are put back, others are listed */
  HEAPWISE_GC_SWEEP_ENDS,
  HEAPWISE_GC_COLLECTION_ENDS
} heapwise_gc_event;

/* Called in the thread that collects or stops the world, with a lock of the collector held: it must
 * not call the collector, nor wait for a thread that may do so. From HEAPWISE_GC_WORLD_STOPS to
 * HEAPWISE_GC_WORLD_RESUMED threads may stand still anywhere, with any lock, and signals are held
 * back: what it calls must be allowed in signal handlers. It must not throw. */
typedef void heapwise_gc_event_report(heapwise_gc_event event, void* argument);

/* Effects: `report` is called from now on. NULL: none. */
void heapwise_gc_on_event(heapwise_gc_event_report* report, void* argument);

/* Called between HEAPWISE_GC_WORLD_STOPS and HEAPWISE_GC_WORLD_STOPPED for each registered thread
 * but the calling one, with `stopped` 1: it stands still; and between HEAPWISE_GC_WORLD_RESUMES and
 * HEAPWISE_GC_WORLD_RESUMED with 0: it is about to go on. `thread`: its number in the kernel, that
 * of gettid. The same rules as for heapwise_gc_event_report. */
typedef void heapwise_gc_thread_report(int thread, int stopped, void* argument);

/* Effects: `report` is called from now on. NULL: none. */
void heapwise_gc_on_thread_event(heapwise_gc_thread_report* report, void* argument);

/* Effects: all other registered threads stand still when it returns, until the calling thread has
 * called heapwise_gc_start_world as often. Threads that are not registered go on, and so does a
 * copy of the process that marks. Waits for a collection to end, and for another thread that has
 * stopped the world. It is in no statistics of pauses. Meant for programs that look at other
 * threads or at memory: debuggers, profilers, snapshots.
 *
 * Meanwhile, threads stand still anywhere, with any lock, and signals are held back from the
 * calling thread. So it may call only what is allowed in signal handlers, as `_Fork`, whose child
 * must not use the collector; and of the collector heapwise_gc_stop_world, heapwise_gc_base,
 * heapwise_gc_usable_size and heapwise_gc_start_world. It may read and write blocks. It must not
 * allocate, `fork`, end, or wait for a registered thread, which would all wait for ever.
 * heapwise_gc_collect ends the process.
 *
 * Returns: 0, or an error of heapwise_gc_init, which it calls if the collector is not started; then
 * nothing is stopped. Thread safety: all, also for threads that are not registered. */
int heapwise_gc_stop_world(void);

/* Effects: see heapwise_gc_stop_world. A thread that has not stopped the world ends the process
 * with a line on standard error. */
void heapwise_gc_start_world(void);

/* A block that is reachable, or that waits for its finalizer. `size`: that of
 * heapwise_gc_usable_size. The same rules as after HEAPWISE_GC_WORLD_STOPPED. */
typedef void heapwise_gc_block_visitor(void* block, size_t size, void* argument);

/* Effects: collects, and calls `visit` for each block while the world stands still; for none if
 * there is no memory to mark. Meant for histograms and snapshots of the heap. */
void heapwise_gc_each_block(heapwise_gc_block_visitor* visit, void* argument);

/* A reference that does not keep a block; zeros refer to nothing. It may lie anywhere, in blocks
 * too, but must not be copied. */
typedef struct heapwise_gc_weak {
  void* target; /* the collector's */
} heapwise_gc_weak;

/* Effects: `cell` refers to `block`; NULL: to nothing, which is needed before the memory of the
 * cell goes, unless that is a block that is collected. It refers to nothing by itself as soon as a
 * collection has found that nothing else leads to the block: with heapwise_gc_set_weak before the
 * finalizer of the block is called, with heapwise_gc_set_long_weak only when the block is free.
 * Returns: 0; ENOMEM; EINVAL for an address where no block begins. Then nothing changed. Thread
 * safety: as for writing a variable. */
int heapwise_gc_set_weak(heapwise_gc_weak* cell, void* block);
int heapwise_gc_set_long_weak(heapwise_gc_weak* cell, void* block);

/* Returns: the block, which the returned address keeps; or NULL. Requires: a registered thread. */
void* heapwise_gc_get_weak(const heapwise_gc_weak* cell);

/* Called when there is no memory for `size` bytes, though the heap was collected; no lock is held.
 * It may free blocks and allocate, or end the program, or throw. Returns: what the allocation
 * returns. */
typedef void* heapwise_gc_no_memory(size_t size, void* argument);

/* Effects: `call` is called from now on. NULL: allocations return NULL. */
void heapwise_gc_on_no_memory(heapwise_gc_no_memory* call, void* argument);

/* What the collector would write to standard error: a line, with its end. It may be called while
 * threads stand still, wherever they are: it must neither lock nor allocate, by any library. */
typedef void heapwise_gc_warning(const char* line, void* argument);

/* Effects: `warning` gets the lines of warnings; those of options that are not understood and of
 * lost blocks, and the last one of a process that the collector ends, stay on standard error. NULL:
 * all do. */
void heapwise_gc_on_warning(heapwise_gc_warning* warning, void* argument);

/* What is told of a lost block. It must not call the collector. The bytes of the block do not
 * change until all blocks that were found are reported. */
typedef void heapwise_gc_leak_report(void* block, size_t size, void* argument);

/* Effects: `report` is called for each lost block (option find_leaks) after the collection that
 * found it, instead of a line on standard error. NULL: lines again. */
void heapwise_gc_on_leak(heapwise_gc_leak_report* report, void* argument);

/* What is told of a block that was written behind its end (option debug). It must not call the
 * collector. */
typedef void heapwise_gc_damage_report(void* block, size_t size, void* argument);

/* Effects: `report` is called for each such block, once: when it is freed, or after a collection
 * that found it in use, also at the end of the process. NULL: a line on standard error instead,
 * which names the code that allocated the block, unless that is overwritten as well. */
void heapwise_gc_on_damage(heapwise_gc_damage_report* report, void* argument);

/* What the collector knows of itself; counts and sums since it was started. */
typedef struct heapwise_gc_statistics {
  size_t collections;
  size_t heap_bytes; /* in blocks and between them, now */
  size_t peak_heap_bytes;
  size_t target_heap_bytes; /* the size at which the next collection comes */
  size_t live_bytes;        /* marked by the last collection */
  size_t allocated_bytes;   /* handed to threads, in runs of blocks */
  size_t marked_bytes;      /* by all collections */
  size_t freed_bytes;       /* found free by all collections, and freed by the program */
  size_t total_pause_ns;    /* from asking all threads to stop until they go on */
  size_t longest_pause_ns;
  size_t mark_ns;              /* of the pauses, marking */
  size_t sweep_ns;             /* putting spans back after marking, not in the pauses */
  size_t mark_stack_overflows; /* collections that had to look through the heap again */
  size_t leaks;
  size_t threads;
  size_t markers;
  size_t metadata_bytes;   /* what the collector needs to know all this */
  size_t finalizers;       /* that are set and not ready */
  size_t finalizers_ready; /* to be called */
  size_t weak_references;  /* cells that refer to something, or did */
  size_t kept_blocks;
  size_t damaged_blocks;         /* that were reported */
  size_t concurrent_collections; /* that marked in a copy of the process, of all collections */
  size_t concurrent_mark_ns;     /* in those copies */
  size_t lost_copies;            /* that ended without a result */
  size_t longest_wait_ns;        /* of a thread that wanted memory, for a copy or for its end */
  size_t longest_stop_ns;        /* of a pause: until all threads stood still */
} heapwise_gc_statistics;

/* Effects: fills `*into`. */
void heapwise_gc_statistics_get(heapwise_gc_statistics* into);

/* What follows is inlined into callers whose size is a constant: a pointer goes up by the size of a
 * block until it meets an end. Header and library are of one version. */

typedef struct heapwise_gc_window {
  char* at;
  char* end;
} heapwise_gc_window;

/* A window for each number of granules of 16 bytes. */
__extension__ extern __thread heapwise_gc_window* heapwise_gc_windows
    __attribute__((__tls_model__("initial-exec"), __visibility__("default")));

/* Returns: as heapwise_gc_malloc, which calls it for what it does not inline. */
void* heapwise_gc_malloc_any(size_t size);

extern __inline__ __attribute__((__gnu_inline__, __always_inline__)) void* heapwise_gc_malloc(
    size_t size) {
  if (__builtin_constant_p(size) && size <= 128) {
    const size_t granules = size == 0 ? 1 : (size + 15) / 16;
    heapwise_gc_window* const window = heapwise_gc_windows + granules;
    char* const block = window->at;
    char* const next = block + granules * 16;
    if (__builtin_expect(next <= window->end, 1)) {
      window->at = next;
      return block;
    }
  }
  return heapwise_gc_malloc_any(size);
}

#ifdef __cplusplus
}
#endif

#endif
