/* Unloads the plug-in while its heap has a thread, and while a thread that used it has not ended. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void (*use)(size_t);
static sem_t used, closed;

static void* use_and_wait(void* unused) {
  use(100);
  sem_post(&used);
  sem_wait(&closed);
  return unused;
}

int main(int count, char** words) {
  if (count != 2) return 2;
  setenv("HEAPWISE_MALLOC_PURGE_DELAY_MS", "20", 1);
  setenv("HEAPWISE_MALLOC_PURGE_THREAD", "1", 1); /* also for root, in a plug-in with the archive */
  void* const plugin = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) return 3;
  size_t (*purged)(void);
  *(void**)&use = dlsym(plugin, "plugin_use");
  *(void**)&purged = dlsym(plugin, "plugin_purged");
  if (use == NULL || purged == NULL) return 4;
  sem_init(&used, 0, 0);
  sem_init(&closed, 0, 0);
  pthread_t thread;
  if (pthread_create(&thread, NULL, use_and_wait, NULL) != 0) return 5;
  sem_wait(&used);
  use((size_t)32 << 20);
  dlclose(plugin);
  sem_post(&closed);
  pthread_join(thread, NULL);
  /* If it were gone, so would be this function. */
  while (purged() < (size_t)30 << 20) {
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    nanosleep(&moment, NULL);
  }
  puts("done");
  return 0;
}
