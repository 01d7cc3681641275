/* Takes all the memory that it may, in blocks of argv[1] bytes, writes to it, gives it back, and does
 * it again. Prints the KiB of the first time and of the second. argv[2]: MiB at which to stop. */
#include <errno.h>

#include "../threads/program.h"

struct link {
  struct link* next;
  size_t number;
};

static size_t take_all(size_t size, size_t most_bytes) {
  struct link* chain = NULL;
  size_t taken = 0;
  errno = 0;
  for (struct link* block; taken < most_bytes && (block = malloc(size)) != NULL; taken += size) {
    ((char*)block)[size - 1] = 1;
    block->next = chain;
    block->number = taken;
    chain = block;
  }
  REQUIRE(taken >= most_bytes || errno == ENOMEM);
  for (size_t number = taken; chain != NULL; number -= size) {
    REQUIRE(chain->number == number - size);  /* else two blocks were one */
    struct link* const next = chain->next;
    free(chain);
    chain = next;
  }
  return taken >> 10;
}

int main(int argc, char** argv) {
  REQUIRE(argc == 3);
  alarm(120);
  const size_t size = strtoul(argv[1], NULL, 10), most = strtoul(argv[2], NULL, 10) << 20;
  char line[64];
  const size_t first = take_all(size, most), second = take_all(size, most);
  const int length = snprintf(line, sizeof line, "%zu %zu\n", first, second);
  return write(1, line, (size_t)length) == length ? 0 : 1;
}
