/* What a file that was compiled with heapwise/gc_redirect.h says of its own memory. */
#ifndef HEAPWISE_TESTS_REDIRECTED_H
#define HEAPWISE_TESTS_REDIRECTED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

int each_is_collected(void);
int texts_are_copied(void);
int too_much_is_refused(void);
int other_blocks_can_be_freed(void);
size_t sum_in_a_thread(size_t count);
int a_thread_that_cannot_start_is_an_error(void);

/* How a thread of results_of_ended_threads ends, and how it is joined. */
enum end_of_thread { RETURNS, EXITS, RETURNS_TO_TRYJOIN, RETURNS_TO_TIMEDJOIN };

/* Returns: how many of the blocks that some threads return are intact if the program collects and
 * allocates between the end of the threads and the joins. */
int results_of_ended_threads(enum end_of_thread end);
/* Returns: how many threads there are. */
int count_of_ended_threads(void);
/* Effects: threads return large blocks, and are detached when they are created, while they run, or
 * after they have ended. Returns: whether all of them could be started. */
enum time_of_detaching { CREATED_DETACHED, DETACHED_RUNNING, DETACHED_ENDED };
int end_detached_threads(enum time_of_detaching when);

/* Returns: whether there is a thread, which has not begun. */
int start_a_late_thread(size_t number);
/* Effects: lets it begin. Returns: the number that it found in its argument. */
size_t number_of_late_thread(void);

#ifdef __cplusplus
}
#endif

#endif
