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

/* Returns: whether there is a thread, which has not begun. */
int start_a_late_thread(size_t number);
/* Effects: lets it begin. Returns: the number that it found in its argument. */
size_t number_of_late_thread(void);

#ifdef __cplusplus
}
#endif

#endif
