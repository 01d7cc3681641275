/* Throws the environment away before it allocates for the first time. With a word, sets a variable
   after that, which allocates. */
#include <stdlib.h>

int main(int count, char** words) {
  (void)words;
  clearenv();
  if (count > 1) setenv("OTHER", "1", 1);
  free(malloc(100));
  return 0;
}
