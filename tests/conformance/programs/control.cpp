// B1-20: the knobs and gauges of malloc.h. argv[1]: a folder for what malloc_info writes.
#include "observe.hpp"

#include <sys/mman.h>

namespace {

using namespace conformance;

void knobs() {
  errno = 0;
  const int unknown = mallopt(hidden(-1000), 1);
  char text[64];
  std::snprintf(text, sizeof text, "%d, errno %s", unknown, error_name(errno));
  stricter("B1-20", "mallopt(-1000, 1)", text, "0, errno 0",
           "1 means that the parameter was set, and there is no such one");
  observe("B1-20", "mallopt(M_MMAP_THRESHOLD, 65536)",
          mallopt(hidden(M_MMAP_THRESHOLD), 65536) == 1 ? "1" : "0");
  const int trimmed = malloc_trim(0);
  expect("B1-20", "malloc_trim(0)", trimmed == 0 || trimmed == 1 ? "0 or 1" : "another", "0 or 1");
}

void gauges() {
  const struct mallinfo2 before = mallinfo2();
  static void* blocks[64];
  for (void*& block : blocks) block = hidden(std::malloc(300'000));
  const struct mallinfo2 now = mallinfo2();
  const std::size_t more = now.uordblks + now.hblkhd - before.uordblks - before.hblkhd;
  expect("B1-20", "mallinfo2 sees blocks", yes_or_no(more >= 64 * 300'000 && more < 1UL << 28),
         "yes");
  const auto old = reinterpret_cast<struct mallinfo (*)()>(dlsym(RTLD_DEFAULT, "mallinfo"));
  expect("B1-20", "mallinfo is there", yes_or_no(old != nullptr && old().uordblks >= 0), "yes");
  for (void* block : blocks) std::free(block);
}

/// Returns: how many bytes call() wrote to standard error.
template <class Call>
long written_to_stderr(const Call& call) {
  const int kept = dup(STDERR_FILENO);
  const int file = memfd_create("stderr", 0);
  dup2(file, STDERR_FILENO);
  call();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  const long bytes = lseek(file, 0, SEEK_END);
  close(file);
  close(kept);
  return bytes;
}

void pages(const char* folder) {
  expect("B1-20", "malloc_stats writes to standard error",
         yes_or_no(written_to_stderr([] { malloc_stats(); }) > 0), "yes");
  char path[512];
  std::snprintf(path, sizeof path, "%s/malloc_info.xml", folder);
  std::FILE* const file = std::fopen(path, "w");
  expect("B1-20", "malloc_info(0, file)", malloc_info(0, file) == 0 ? "0" : "not 0", "0");
  std::fclose(file);
  const int refused = malloc_info(hidden(1), stdout);
  expect("B1-20", "malloc_info(1, file)",
         refused == EINVAL || (refused == -1 && errno == EINVAL) ? "EINVAL" : "another", "EINVAL");
}

} // namespace

int main(int count, char** arguments) {
  introduce();
  knobs();
  gauges();
  pages(count > 1 ? arguments[1] : ".");
  done("B1-20");
}
