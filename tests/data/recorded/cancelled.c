/* cancelled PLUG-IN: a thread that is to be cancelled allocates, after a library was loaded. malloc is
   no cancellation point. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int go;
static volatile int reached;

static void* work(void* nothing) {
  while (!go) {
  }
  free(malloc(100)); /* no cancellation point */
  reached = 1;
  pthread_testcancel();
  return nothing;
}

int main(int count, char** words) {
  pthread_t thread;
  setvbuf(stdout, NULL, _IONBF, 0);
  pthread_create(&thread, NULL, work, NULL);
  if (count < 2 || dlopen(words[1], RTLD_NOW) == NULL) return 2;
  pthread_cancel(thread);
  go = 1;
  pthread_join(thread, NULL);
  puts(reached ? "reached" : "ended in malloc");
  return 0;
}
