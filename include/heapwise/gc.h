/* A garbage collector for C and C++. A block lives as long as the program can reach it, and need
 * not be freed. The collector is conservative: it treats every word that may be an address as an
 * address. It does not move blocks. It marks and sweeps a heap of its own. Needs libheapwise-gc.
 *
 * A word keeps a block alive if it points to the first byte of the block and is in one of these
 * places (all as far as the how-to says):
 * - the static data of the program or of a loaded library;
 * - thread-local variables and pthread keys;
 * - added roots;
 * - a live block that is not atomic.
 *
 * A word on the stack or in a register of a registered thread may point to any byte inside of the
 * block, or one past its end. The collector does not look through memory of malloc or mmap. It does
 * not find addresses that were changed (compressed, XORed).
 *
 * Thread safety: all registered threads may call all functions at once. No function may be called
 * from a signal handler. A thread that touches blocks must be registered. The thread that starts
 * the collector is registered. The collector interrupts threads with a signal, SIGURG if no other
 * signal is chosen. A forked child has only the thread that forked, and may collect.
 * Errors: if there is no memory, functions that return a pointer return NULL and set errno to
 * ENOMEM.
 */
#ifndef HEAPWISE_GC_H
#define HEAPWISE_GC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set all members to 0 first: 0 stands for the default of a member. The environment
 * (HEAPWISE_GC_MARKERS and so on, see the how-to) overrides what the program sets here. */
typedef struct heapwise_gc_options {
  /* How many threads mark. Default: as many as processors, at most 4. */
  size_t markers;
  /* Between two collections, the program may allocate the weighted live bytes divided by this
   * number. A live byte counts twice. A byte of an atomic block counts a quarter, and a byte of a
   * block of 16 bytes counts three times. Each larger block counts 64 more if all of its bytes are
   * used. Default: 3, as in Boehm's collector. With 1, the program is faster and takes up to twice
   * as much memory. */
  size_t free_space_divisor;
  /* The most bytes that blocks may take. Default: as many as the system has. */
  size_t limit_bytes;
  /* The most bytes of the mark stack of one marker, where it notes blocks that it still has to look
   * through. Default: 256 MiB. The mark stack is smaller if addresses are limited. */
  size_t mark_stack_bytes;
  /* If at least this many bytes are live, collections mark beside the program, in a copy of the
   * process. The world stands still only while the system makes the copy. Each page that the
   * program writes meanwhile is copied. Each block that it allocates meanwhile counts as live.
   * If the program meanwhile allocates half of what it may allocate between two collections, each
   * thread that needs more memory sleeps now and then, for at most 2 ms at once. If the program
   * allocates twice what it may allocate between two collections, a thread that needs more memory
   * waits until the copy has marked.
   * If the system refuses a copy, the world stands still while the collection marks, as without
   * this option. The collector asks the system for huge pages for the heap. With `find_leaks` or
   * `debug` it makes no copy. Default: never. */
  size_t concurrent_bytes;
  /* 1: an address of any byte inside of a block counts wherever it is found, not only on stacks. 2:
   * the address one past the end of a block counts, too. Then blocks are a byte longer, as in
   * Boehm's collector, and no allocation is inlined. */
  int interior_pointers;
  /* 1: the program has to free its blocks. Blocks that are lost are reported after each
   * heapwise_gc_collect and at the end of the process. */
  int find_leaks;
  /* The signal that stops threads. Default: SIGURG. If the signal had a handler before the
   * collector was started, this handler is called for signals that others send. It runs with all
   * signals blocked and on the stack in use. If the signal had its default action, this action is
   * not taken. */
  int signal;
  /* 1: the collector notes the size and the caller of each block, and puts a guard behind it. It
   * reports blocks that were written behind their end, and names the caller of lost blocks. No
   * allocation is fast. */
  int debug;
  /* 1: if a thread is not registered, its first allocation, free or heapwise_gc_get_weak registers
   * it until it ends. Until then, the thread keeps no block. 0: such a call in a thread
   * that is not registered ends the process with a line on standard error. */
  int register_threads;
} heapwise_gc_options;

/* Effects: starts the collector and registers the calling thread. If the collector is started
 * already, only registers the thread. If `options` is NULL, all options have their defaults. An
 * allocation starts the collector, too. Returns: 0; ENOMEM or EAGAIN; EINVAL if the signal cannot
 * be used. */
int heapwise_gc_init(const heapwise_gc_options* options);

/* Returns: a block of at least `size` zero bytes, aligned to 16. */
void* heapwise_gc_malloc(size_t size);

/* Returns: an atomic block, for data without addresses of blocks: the collector does not look
 * through it. Its bytes may have any values. */
void* heapwise_gc_malloc_atomic(size_t size);

/* Returns: a block as heapwise_gc_malloc returns it, aligned to `alignment`, which is a power of
 * two of at most 64 KiB. For another alignment: NULL, and errno is EINVAL. If heapwise_gc_realloc
 * moves the block, the new block is aligned to 16. */
void* heapwise_gc_malloc_aligned(size_t alignment, size_t size);

/* Says which words of a block may hold addresses of blocks. */
typedef struct heapwise_gc_layout heapwise_gc_layout;

/* Returns: a layout for blocks that consist of elements of `element_bytes` bytes, from the first
 * byte on. In each element, the `count` words at these offsets may hold addresses of blocks. The
 * other words do not. The layout lasts until the end of the process, so make one for each type.
 * NULL with errno EINVAL if `element_bytes` is 0, if an offset is behind the element, if
 * `element_bytes` or an offset is not a multiple of the size of an address, or if there are more
 * offsets than words. NULL with errno ENOMEM if there is no memory. Thread safety: all threads may
 * call it at once, also threads that are not registered. Complexity: linear in `count`. */
const heapwise_gc_layout* heapwise_gc_make_layout(size_t element_bytes, const size_t* offsets,
                                                  size_t count);

/* The collector passes it to a marking function, which passes it to heapwise_gc_mark_address. */
typedef struct heapwise_gc_marking {
  void (*name)(const struct heapwise_gc_marking* marking,
               const void* address); /* set by the collector */
} heapwise_gc_marking;

/* A marking function. The collector calls it while it marks, with a block that is reachable. The
 * function calls heapwise_gc_mark_address with each address that the block holds, in whatever form:
 * compressed, with tags, as an offset. `size` is the result of heapwise_gc_usable_size for the
 * block.
 *
 * The function must expect the block in any state between two instructions of the program. The
 * block may contain zeros where nothing was written yet, or be half changed. Or it is as it was
 * when the program dropped the last address of the block, some collections ago. The function may be
 * called several times for a block, by several threads at once, in threads of the collector with a
 * stack of 128 KiB.
 *
 * While the function runs, the world stands still, and threads may hold any lock. Or the function
 * runs in a copy of the process (option `concurrent_bytes`), and all that it writes is lost. So it
 * may read only the block, `argument` and other memory that is never freed. It must not read other
 * blocks, because they may be free. It must not use thread-local variables. It must not lock, wait,
 * allocate, throw, or call any other function of the collector. Its writes must be atomic. */
typedef void heapwise_gc_mark_function(const heapwise_gc_marking* marking, const void* block,
                                       size_t size, void* argument);

/* Returns: a layout of blocks whose addresses `function` names. It lasts until the end of the
 * process. `argument` is not a root. NULL with errno EINVAL if `function` is NULL, or with errno
 * ENOMEM if there is no memory. Thread safety: all threads may call it at once, also threads that
 * are not registered. */
const heapwise_gc_layout* heapwise_gc_make_marked_layout(heapwise_gc_mark_function* function,
                                                         void* argument);

/* Effects: marks the block that `address` is in as reachable, whichever byte of the block it points
 * to. Does nothing if the address is in no block. Requires: a marking function calls it, with the
 * `marking` that the function was called with. */
static __inline__ void heapwise_gc_mark_address(const heapwise_gc_marking* marking,
                                                const void* address) {
  marking->name(marking, address);
}

/* Requires: `layout` is from heapwise_gc_make_layout or heapwise_gc_make_marked_layout.
 * Returns: a block as heapwise_gc_malloc returns it. The collector looks only at the words that the
 * layout names, so numbers and texts in other words keep no block. The block takes 8 bytes more.
 * The collector looks at all words of a block of more than 32,760 bytes (with the option `debug`:
 * 32,728 bytes), unless the layout has a marking function. If a block cannot be reached and has a
 * finalizer, the collector finds the blocks that it leads to by the marking function. Without a
 * marking function, it looks at all words of the block. */
void* heapwise_gc_malloc_typed(const heapwise_gc_layout* layout, size_t size);

/* Returns: a block as heapwise_gc_malloc returns it. It is kept, as by heapwise_gc_keep, until
 * heapwise_gc_free. Meant for a block whose address the collector cannot find. */
void* heapwise_gc_malloc_uncollectable(size_t size);

/* Returns: an atomic block, as heapwise_gc_malloc_atomic returns it, that is kept as by
 * heapwise_gc_malloc_uncollectable. */
void* heapwise_gc_malloc_atomic_uncollectable(size_t size);

/* Effects: heapwise_gc_keep keeps the block reachable, wherever its address is. This ends when
 * heapwise_gc_stop_keeping was called as often as heapwise_gc_keep, or when the block is freed.
 * Returns: 0; ENOMEM; EINVAL if no block begins at `block`. Complexity: constant on average. Each
 * kept block takes 48 to 96 bytes. */
int heapwise_gc_keep(void* block);
void heapwise_gc_stop_keeping(void* block);

/* Returns: `block` itself if `size` is at most heapwise_gc_usable_size(block) and more than half of
 * that, unless the option `debug` is set. Else a block of the same kind with room for `size` bytes.
 * It begins with the bytes of `block`, as many as both blocks have. New bytes are as
 * heapwise_gc_malloc or heapwise_gc_malloc_atomic leaves them. Then `block` is freed. Its
 * finalizer, its weak references and its calls of heapwise_gc_keep go over to the new block. If
 * `block` is NULL: as heapwise_gc_malloc. If there is no memory, `block` is unchanged. An address
 * that is not a block ends the process with a line on standard error. */
void* heapwise_gc_realloc(void* block, size_t size);

/* Effects: frees the block at once. Its finalizer is not called, and weak references to it become
 * empty. Does nothing for NULL. An address that is not a block ends the process with a line on
 * standard error. Requires: nobody uses the block any more. */
void heapwise_gc_free(void* block);

/* Effects: stops the world, marks the blocks that can be reached, and lets the memory of all other
 * blocks be used again. Never marks in a copy of the process. */
void heapwise_gc_collect(void);

/* Effects: as heapwise_gc_collect, and gives all free memory back to the system. */
void heapwise_gc_collect_and_release(void);

/* Effects: from now on, blocks may take at most `limit_bytes`. 0: as many as the system has. Memory
 * that blocks take already stays. Requires: the collector is started. */
void heapwise_gc_set_limit(size_t limit_bytes);

/* Effects: the option `free_space_divisor` has this value from the end of the next collection on;
 * 0: the default. Requires: the collector is started. */
void heapwise_gc_set_free_space_divisor(size_t divisor);

/* Effects: after heapwise_gc_disable, no allocation collects. heapwise_gc_collect,
 * heapwise_gc_collect_and_release and heapwise_gc_each_block still do. This ends when
 * heapwise_gc_enable was called as often as heapwise_gc_disable. */
void heapwise_gc_disable(void);
void heapwise_gc_enable(void);

/* Effects: heapwise_gc_register_thread makes the stack and the registers of the calling thread
 * roots, until the thread ends or calls heapwise_gc_unregister_thread. Destructors of pthread keys
 * may still allocate, except in their last round. Starts the collector if it is not started.
 * Returns: 0, also if the thread was registered before; ENOMEM, also in that last round; an error
 * of heapwise_gc_init, if the collector could not be started. */
int heapwise_gc_register_thread(void);
void heapwise_gc_unregister_thread(void);

/* The result of a thread lies in memory of the C library until pthread_join gets it, and the
 * collector does not look there. So a block that only a result leads to is freed, unless a cell
 * holds the result: a root with a number, from 1 on. gc_redirect.h calls the functions below, with
 * a pthread_t as `thread`. Meant for other functions that create and join threads. Thread safety:
 * all threads may call them at once, also threads that are not registered. Complexity: linear in
 * the number of cells.
 *
 * heapwise_gc_add_result makes a cell for a thread that is about to be created. It returns the
 * number of the cell, or 0 if there is no memory.
 * heapwise_gc_name_result says which thread the cell is for. If an earlier thread with the same
 * pthread_t has a cell, that cell is removed. Call it in the new thread, and also in the thread
 * that created it before others learn of the new thread. The second call does nothing.
 * heapwise_gc_set_result puts the result into the cell of a thread that is about to end. It removes
 * the cell if the thread is detached.
 * heapwise_gc_find_result returns the number of the cell of a thread, or 0. Call it before the
 * thread is joined, since afterwards another thread may have the same pthread_t.
 * heapwise_gc_detach_result says that nobody will join the thread. Call it before the thread is
 * detached.
 * heapwise_gc_remove_result removes the cell with this number, if it is still there. */
size_t heapwise_gc_add_result(int is_detached);
void heapwise_gc_name_result(size_t number, unsigned long thread);
void heapwise_gc_set_result(unsigned long thread, void* result);
size_t heapwise_gc_find_result(unsigned long thread);
void heapwise_gc_detach_result(unsigned long thread);
void heapwise_gc_remove_result(size_t number);

/* Effects: makes the words in [begin, end) roots, until heapwise_gc_remove_roots is called with the
 * same two addresses. Requires: the memory is readable until then. Returns: 0, or ENOMEM. */
int heapwise_gc_add_roots(const void* begin, const void* end);
void heapwise_gc_remove_roots(const void* begin, const void* end);

/* Effects: from now on, an address `bytes` behind the first byte of a block counts as the address
 * of the first byte, wherever it is found. Meant for addresses with a tag in their lower bits, and
 * for members that other blocks point to. Returns: 0; EINVAL if `bytes` is 4096 or more.
 * Thread safety: all threads may call it at once, also threads that are not registered. */
int heapwise_gc_add_displacement(size_t bytes);

/* Effects: the collector does not look through static data in [begin, end) of the program or of a
 * library, until heapwise_gc_include_roots is called with the same two addresses. It still looks
 * through added roots, stacks and thread-local variables there. Meant for large tables that never
 * lead to blocks. Returns: 0, or ENOMEM. Complexity: each collection compares each part of static
 * data with all ranges. */
int heapwise_gc_exclude_roots(const void* begin, const void* end);
void heapwise_gc_include_roots(const void* begin, const void* end);

/* Effects: makes the words in [begin, end) roots, as the words of a thread's own stack: an address
 * of any byte inside of a block counts. This ends when heapwise_gc_remove_stack is called with the
 * same two addresses. Meant for the stacks of coroutines: add the stack before the first switch to
 * the coroutine, and remove it after the last switch away from it. Requires: the memory is readable
 * until then, so leave out the guard page. Returns: 0, or ENOMEM. Thread safety: all threads may
 * call it at once, also threads that are not registered. Complexity: each collection looks through
 * the whole range. Removing a range is linear in the number of added stacks. */
int heapwise_gc_add_stack(const void* begin, const void* end);
void heapwise_gc_remove_stack(const void* begin, const void* end);

/* Returns: the first byte of the block that `address` is in; NULL if it is in no block. The block
 * may be free. */
void* heapwise_gc_base(const void* address);

/* Returns: how many bytes of a block may be used; 0 for an address that is not a block. */
size_t heapwise_gc_usable_size(const void* block);

/* A finalizer. It is called with a block that nothing leads to any more. It may do anything with
 * the block. It may allocate, make the block reachable again, or give it a finalizer once more. It
 * must not throw. */
typedef void heapwise_gc_finalizer(void* block, void* argument);

/* Effects: after a collection has found that nothing but `block` itself leads to `block`,
 * heapwise_gc_run_finalizers calls `call` once. Until `call` has returned, the collector keeps the
 * block and all that it leads to. A finalizer that the block had before is replaced. If `call` is
 * NULL, the block has no finalizer. Until `call` has returned, `argument` is a root, so nothing may
 * lead from it to `block`.
 *
 * Order: if a block with a finalizer leads to another block with a finalizer, the first block is
 * finalized first, and the other block after a later collection. Blocks with finalizers that lead
 * to each other in a circle wait for each other for ever. A block that leads to itself through
 * other blocks waits for ever, too. At the end of the process, no finalizer is called.
 *
 * Returns: 0; ENOMEM; EINVAL if no block begins at `block`. */
int heapwise_gc_set_finalizer(void* block, heapwise_gc_finalizer* call, void* argument);

/* Effects: as heapwise_gc_set_finalizer, but without an order. The finalizer is called after a
 * collection has found that only blocks that cannot be reached lead to the block, whatever their
 * finalizers are. So all blocks of a circle are finalized, in any order. Blocks that `block` leads
 * to may have been finalized before. Returns: as heapwise_gc_set_finalizer. */
int heapwise_gc_set_unordered_finalizer(void* block, heapwise_gc_finalizer* call, void* argument);

/* Effects: calls the finalizers that are ready, and the finalizers that become ready meanwhile, in
 * the calling thread. No lock is held. Only this function calls finalizers. So if a program holds a
 * lock while it allocates, no finalizer waits for that lock there. Requires: a registered thread.
 * Returns: how many finalizers it called. */
size_t heapwise_gc_run_finalizers(void);

/* Called after a collection that made finalizers ready. The thread that collected calls it inside
 * of one of its allocations, which may be anywhere. No lock of the collector is held. Meant for
 * waking a thread that calls heapwise_gc_run_finalizers. */
typedef void heapwise_gc_notice(void* argument);

/* Effects: `notice` is called from now on. NULL: none. */
void heapwise_gc_on_finalizers_ready(heapwise_gc_notice* notice, void* argument);

/* A collection that has ended. */
typedef struct heapwise_gc_collection {
  size_t number;     /* counts all collections, from 1 on */
  size_t pause_ns;   /* from asking all threads to stop until they go on */
  size_t live_bytes; /* that the collection found */
  size_t heap_bytes; /* that spans and large blocks take */
  int in_copy;       /* 1: it marked in a copy of the process */
} heapwise_gc_collection;

/* Called after a collection. The thread that ended the collection calls it inside of one of its
 * allocations, which may be anywhere. No lock of the collector is held. If collections follow each
 * other at once, only the last one is reported. */
typedef void heapwise_gc_collection_report(const heapwise_gc_collection* last, void* argument);

/* Effects: `report` is called from now on. NULL: none. */
void heapwise_gc_on_collection(heapwise_gc_collection_report* report, void* argument);

/* The steps of a collection, in this order. If a collection marks in a copy of the process (option
 * `concurrent_bytes`), the world is resumed before marking ends. If the copy is given up, its
 * collection ends without a sweep. If there is no memory for its roots, a collection does not mark.
 * The world may be stopped several times in a row. heapwise_gc_stop_world stops the world without a
 * collection. */
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

/* Called in the thread that collects or stops the world, while a lock of the collector is held. It
 * must not call the collector, and must not wait for a thread that may call it. From
 * HEAPWISE_GC_WORLD_STOPS to HEAPWISE_GC_WORLD_RESUMED, threads may stand still anywhere, with any
 * lock, and signals are held back. So during this time it may call only functions that are allowed
 * in signal handlers. It must not throw. */
typedef void heapwise_gc_event_report(heapwise_gc_event event, void* argument);

/* Effects: `report` is called from now on. NULL: none. */
void heapwise_gc_on_event(heapwise_gc_event_report* report, void* argument);

/* Called for each registered thread except the calling one. Between HEAPWISE_GC_WORLD_STOPS and
 * HEAPWISE_GC_WORLD_STOPPED, `stopped` is 1: the thread stands still. Between
 * HEAPWISE_GC_WORLD_RESUMES and HEAPWISE_GC_WORLD_RESUMED, `stopped` is 0: the thread is about to
 * go on. `thread` is the number of the thread in the kernel, as from gettid. The rules for
 * heapwise_gc_event_report hold here, too. */
typedef void heapwise_gc_thread_report(int thread, int stopped, void* argument);

/* Effects: `report` is called from now on. NULL: none. */
void heapwise_gc_on_thread_event(heapwise_gc_thread_report* report, void* argument);

/* Effects: stops all other registered threads. When it returns, they stand still until the calling
 * thread has called heapwise_gc_start_world as often as heapwise_gc_stop_world. Threads that are
 * not registered go on, and so does a copy of the process that marks. If a collection is in
 * progress, or if another thread has stopped the world, the call waits until that ends. The
 * statistics of pauses do not count this stop. Meant for programs that look at other threads or at
 * memory: debuggers, profilers, snapshots.
 *
 * Until the world is started again, threads stand still anywhere, with any lock, and signals are
 * held back from the calling thread. So the calling thread may call only functions that are allowed
 * in signal handlers, such as `_Fork`, whose child must not use the collector. Of the collector it
 * may call only heapwise_gc_stop_world, heapwise_gc_base, heapwise_gc_usable_size and
 * heapwise_gc_start_world. It may read and write blocks. It must not allocate, call `fork`, end, or
 * wait for a registered thread: each of these would wait for ever. heapwise_gc_collect ends the
 * process.
 *
 * Returns: 0, or an error of heapwise_gc_init, which it calls if the collector is not started.
 * After an error, nothing is stopped. Thread safety: all threads may call it at once, also threads
 * that are not registered. */
int heapwise_gc_stop_world(void);

/* Effects: see heapwise_gc_stop_world. If the calling thread has not stopped the world, the process
 * ends with a line on standard error. */
void heapwise_gc_start_world(void);

/* Called with a block that is reachable, or that waits for its finalizer. `size` is the result of
 * heapwise_gc_usable_size for the block. The same rules hold as after HEAPWISE_GC_WORLD_STOPPED. */
typedef void heapwise_gc_block_visitor(void* block, size_t size, void* argument);

/* Effects: collects, and calls `visit` for each block while the world stands still. If there is no
 * memory to mark, it calls `visit` for no block. Meant for histograms and snapshots of the heap. */
void heapwise_gc_each_block(heapwise_gc_block_visitor* visit, void* argument);

/* A reference that does not keep its block. If its bytes are 0, it refers to nothing. It may lie
 * anywhere, also in a block, but must not be copied. */
typedef struct heapwise_gc_weak {
  void* target; /* only for the collector */
} heapwise_gc_weak;

/* Effects: `cell` refers to `block`. If `block` is NULL, `cell` refers to nothing. Before the
 * memory of the cell goes, the program must let the cell refer to nothing, unless that memory is a
 * block that is collected. As soon as a collection has found that nothing else leads to the block,
 * the collector lets the cell refer to nothing. With heapwise_gc_set_weak, this happens before the
 * finalizer of the block is called, with heapwise_gc_set_long_weak only when the block is free.
 * Returns: 0; ENOMEM; EINVAL if no block begins at `block`. After an error, nothing has changed.
 * Thread safety: as for writing a variable. */
int heapwise_gc_set_weak(heapwise_gc_weak* cell, void* block);
int heapwise_gc_set_long_weak(heapwise_gc_weak* cell, void* block);

/* Requires: a registered thread. Returns: the block, or NULL. The returned address keeps the
 * block. */
void* heapwise_gc_get_weak(const heapwise_gc_weak* cell);

/* Called if there is no memory for `size` bytes although the heap was collected. No lock is held.
 * It may free blocks and allocate, or end the program, or throw. Returns: the result of the
 * allocation. It need not be a block of the collector. Then heapwise_gc_malloc_uncollectable does
 * not keep it. If heapwise_gc_realloc returns it, the finalizer of the old block is not called, and
 * weak references to the old block become empty. */
typedef void* heapwise_gc_no_memory(size_t size, void* argument);

/* Effects: `call` is called from now on. NULL: allocations return NULL. */
void heapwise_gc_on_no_memory(heapwise_gc_no_memory* call, void* argument);

/* Called with a line, including its end, that the collector would otherwise write to standard
 * error. It may be called while threads stand still, wherever they are. So it must neither lock nor
 * allocate, by any library. */
typedef void heapwise_gc_warning(const char* line, void* argument);

/* Effects: from now on, `warning` gets the lines of warnings. Three kinds of lines stay on standard
 * error: lines about options that are not understood, lines about lost blocks, and the last line of
 * a process that the collector ends. NULL: all lines go to standard error. */
void heapwise_gc_on_warning(heapwise_gc_warning* warning, void* argument);

/* Called with a lost block. It must not call the collector. The bytes of the block do not change
 * until all blocks that were found are reported. */
typedef void heapwise_gc_leak_report(void* block, size_t size, void* argument);

/* Effects: from now on, `report` is called for each lost block (option find_leaks) after the
 * collection that found it, and no line is written to standard error. NULL: lines are written
 * again. */
void heapwise_gc_on_leak(heapwise_gc_leak_report* report, void* argument);

/* Called with a block that was written behind its end (option debug). It must not call the
 * collector. */
typedef void heapwise_gc_damage_report(void* block, size_t size, void* argument);

/* Effects: from now on, `report` is called once for each such block. It is called when the block is
 * freed, or after a collection that found it in use, also at the end of the process. NULL: instead,
 * a line is written to standard error. It names the code that allocated the block, unless that was
 * overwritten, too. */
void heapwise_gc_on_damage(heapwise_gc_damage_report* report, void* argument);

/* Numbers of the collector. Counts and sums are since it was started. */
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
  size_t mark_ns;              /* the part of the pauses that was marking */
  size_t sweep_ns;             /* putting spans back after marking, not in the pauses */
  size_t mark_stack_overflows; /* collections that had to look through the heap again */
  size_t leaks;
  size_t threads;
  size_t markers;
  size_t metadata_bytes;   /* of the tables of the collector itself */
  size_t finalizers;       /* that are set and not ready yet */
  size_t finalizers_ready; /* that wait to be called */
  size_t weak_references;  /* cells that refer to something, or did */
  size_t kept_blocks;
  size_t damaged_blocks;         /* that were reported */
  size_t concurrent_collections; /* that marked in a copy of the process, of all collections */
  size_t concurrent_mark_ns;     /* in those copies */
  size_t lost_copies;            /* that ended without a result */
  size_t longest_wait_ns;        /* of a thread that needed memory, for a copy or its end */
  size_t longest_stop_ns;        /* from asking threads to stop until all stood still */
} heapwise_gc_statistics;

/* Effects: fills `*into`. */
void heapwise_gc_statistics_get(heapwise_gc_statistics* into);

/* The code below is inlined into callers whose size is a constant. It moves a pointer up by the
 * size of a block until the pointer meets the end of the window. Header and library must be of the
 * same version. */

typedef struct heapwise_gc_window {
  char* at;
  char* end;
} heapwise_gc_window;

/* A window for each number of granules of 16 bytes. */
__extension__ extern __thread heapwise_gc_window* heapwise_gc_windows
    __attribute__((__tls_model__("initial-exec"), __visibility__("default")));

/* Returns: as heapwise_gc_malloc, which calls it for each allocation that it does not inline. */
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
