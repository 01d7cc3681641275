/* A plug-in with a heap of its own inside. */
#include <string.h>

#include <heapwise/malloc.h>

void plugin_use(size_t size) {
  void* const block = heapwise_malloc(size);
  if (block == NULL) return;
  memset(block, 1, size);
  heapwise_free(block);
}

size_t plugin_purged(void) {
  heapwise_malloc_statistics now;
  heapwise_malloc_statistics_get(&now);
  return now.purged_bytes;
}
