/* A library that a test loads while the collector runs: its variables are roots from then on. */

#ifndef PLUGIN_THREAD_WORDS
#define PLUGIN_THREAD_WORDS 1
#endif

void* plugin_static[2];
__thread void* plugin_thread_local[PLUGIN_THREAD_WORDS];

void plugin_keep(void* block) { plugin_static[1] = block; }
void plugin_keep_in_thread(void* block) { plugin_thread_local[PLUGIN_THREAD_WORDS - 1] = block; }
void* plugin_kept_in_thread(void) { return plugin_thread_local[PLUGIN_THREAD_WORDS - 1]; }
