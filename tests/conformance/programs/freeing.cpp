// B1-14 to B1-16: what may be used of a block, and ways to free it.
#include "observe.hpp"

#include <sys/mman.h>

namespace {

using namespace conformance;

constexpr std::size_t neighbours = 48;

void usable() {
  expect("B1-14", "malloc_usable_size(NULL)",
         malloc_usable_size(hidden<void*>(nullptr)) == 0 ? "0" : "more", "0");
  consensus whole;
  consensus resized;
  for (std::size_t size = 0; size < 200'000; size += 1 + size / 3) {
    static void* blocks[neighbours];
    for (void*& block : blocks) block = hidden(std::malloc(hidden(size)));
    std::size_t tag = 0;
    for (void* block : blocks) fill(block, malloc_usable_size(block), ++tag);
    tag = 0;
    bool intact = true;
    for (void* block : blocks) intact = filled(block, malloc_usable_size(block), ++tag) && intact;
    whole.add(yes_or_no(intact), "%zu bytes", size);
    tag = 0;
    for (void*& block : blocks) {
      const std::size_t before = malloc_usable_size(block);
      block = hidden(std::realloc(block, hidden(before)));
      intact = filled(block, before, ++tag) && malloc_usable_size(block) >= before && intact;
    }
    resized.add(yes_or_no(intact), "%zu bytes", size);
    for (void* block : blocks) std::free(block);
  }
  expect("B1-14", "all usable bytes belong to the block", whole.text(), "yes");
  expect("B1-14", "also after realloc(p, usable)", resized.text(), "yes");
  done("B1-14");
}

bool free_keeps_errno(void* block) {
  errno = ERANGE;
  std::free(hidden(block));
  return errno == ERANGE;
}

void keeps_errno() {
  consensus answers;
  answers.add(yes_or_no(free_keeps_errno(nullptr)), "NULL");
  for (const std::size_t size : {0UL, 24UL, 5'000UL, 200'000UL, 1UL << 20, 64UL << 20, 1UL << 30}) {
    answers.add(yes_or_no(free_keeps_errno(std::malloc(hidden(size)))), "%zu bytes", size);
  }
  expect("B1-15", "free keeps errno", answers.text(), "yes");
}

/// Effects: makes mappings until the system has no more. Returns: whether it came to that.
bool use_up_mappings() {
  const std::size_t pages = 400'000;
  const std::size_t page = 4096;
  auto* const start = static_cast<char*>(
      mmap(nullptr, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (start == MAP_FAILED) return false;
  for (std::size_t i = 1; i < pages; i += 2) {
    if (mprotect(start + i * page, page, PROT_READ) != 0) return errno == ENOMEM;
  }
  return false;
}

/// Large blocks that the system may have put side by side into one mapping: to free one in the
/// middle would split it, which is one mapping more.
void without_mappings() {
  static void* blocks[24];
  consensus answers;
  for (std::size_t i = 0; i < 24; ++i) {
    blocks[i] = hidden(std::malloc((i % 4 < 2 ? 1UL << 20 : 40UL << 20) + i * 8192));
    std::memset(blocks[i], 1, 5000);
  }
  expect("B1-15", "all mappings of the system are used up", yes_or_no(use_up_mappings()), "yes");
  for (const std::size_t i : {1UL, 5UL, 7UL, 10UL, 12UL, 15UL, 17UL, 20UL}) {
    answers.add(yes_or_no(free_keeps_errno(blocks[i])), "block %zu", i);
    blocks[i] = nullptr;
  }
  for (void* block : blocks) answers.add(yes_or_no(free_keeps_errno(block)), "the rest");
  expect("B1-15", "free keeps errno when no mapping can be split", answers.text(), "yes");
  done("B1-15");
}

using sized_function = void (*)(void*, std::size_t);
using aligned_sized_function = void (*)(void*, std::size_t, std::size_t);

bool right_sizes(sized_function free_sized) {
  for (std::size_t size = 0; size < 3'000'000; size += 1 + size / 2) {
    static void* blocks[neighbours];
    for (void*& block : blocks) block = hidden(std::malloc(hidden(size)));
    for (void* block : blocks) free_sized(block, size);
    for (void*& block : blocks) fill(block = hidden(std::calloc(size, 1)), size, size);
    for (void* block : blocks) free_sized(block, size);
  }
  free_sized(nullptr, 8);
  return true;
}

bool right_alignments(aligned_sized_function free_aligned_sized) {
  for (std::size_t alignment = 8; alignment <= 1UL << 20; alignment *= 2) {
    for (const std::size_t size : {0UL, 1UL, alignment, alignment + 1, 3 * alignment}) {
      void* block = nullptr;
      if (posix_memalign(&block, hidden(alignment), hidden(size)) != 0) return false;
      free_aligned_sized(hidden(block), alignment, size);
      free_aligned_sized(hidden(aligned_alloc(alignment, size)), alignment, size);
    }
  }
  free_aligned_sized(nullptr, 64, 8);
  return true;
}

void by_size() {
  const auto sized = reinterpret_cast<sized_function>(dlsym(RTLD_DEFAULT, "free_sized"));
  const auto aligned =
      reinterpret_cast<aligned_sized_function>(dlsym(RTLD_DEFAULT, "free_aligned_sized"));
  const char* const why = "added in C23; older C libraries lack it";
  stricter("B1-16", "free_sized is exported", yes_or_no(sized != nullptr), "yes", why);
  stricter("B1-16", "free_aligned_sized is exported", yes_or_no(aligned != nullptr), "yes", why);
  stricter("B1-16", "free_sized with the right size",
           sized == nullptr ? "absent" : yes_or_no(right_sizes(sized)), "yes", why);
  stricter("B1-16", "free_aligned_sized with the right size, 0 too",
           aligned == nullptr ? "absent" : yes_or_no(right_alignments(aligned)), "yes", why);
  done("B1-16");
}

} // namespace

int main() {
  introduce();
  usable();
  keeps_errno();
  by_size();
  without_mappings(); // last: nothing can be mapped any more
}
