/* A plugin that is linked with a collector of its own: a second copy in the same process. */
#include "heapwise/gc.h"

int second_init(void) { return heapwise_gc_init(0); }
int second_register(void) { return heapwise_gc_register_thread(); }
void second_unregister(void) { heapwise_gc_unregister_thread(); }
void second_collect(void) { heapwise_gc_collect(); }
void* second_malloc(size_t size) { return heapwise_gc_malloc(size); }
