/* Allocates, so that the options are read, and ends with the handlers of atexit. With a word, does
   so after a child did the same. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count > 1) {
    if (fork() == 0) execl(words[0], words[0], (char*)NULL);
    wait(NULL);
  }
  free(malloc(100));
  return 0;
}
