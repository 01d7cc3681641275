/* A library that a test loads while the collector runs: its variables are roots from then on. */

void* plugin_static[2];
__thread void* plugin_thread_local;

void plugin_keep(void* block) { plugin_static[1] = block; }
void plugin_keep_in_thread(void* block) { plugin_thread_local = block; }
