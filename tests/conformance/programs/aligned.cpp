// B1-10 to B1-13: blocks that are aligned.
#include "observe.hpp"

namespace {

using namespace conformance;

constexpr std::size_t page = 4096;
constexpr std::size_t half = SIZE_MAX / 2 + 1;

/// Returns: what posix_memalign says, and whether it left errno and, when it failed, the pointer as
/// they were.
const char* posix(std::size_t alignment, std::size_t size) {
  static char text[96];
  void* const untouched = &text;
  void* block = untouched;
  errno = ERANGE;
  const int error = hidden(posix_memalign(hidden(&block), hidden(alignment), hidden(size)));
  const bool errno_kept = errno == ERANGE;
  const bool pointer_right =
      error == 0 ? block != nullptr && is_aligned(block, alignment) : block == untouched;
  if (error == 0) std::free(block);
  std::snprintf(text, sizeof text, "%s%s%s", error_name(error), errno_kept ? "" : ", errno set",
                pointer_right ? "" : ", a wrong pointer");
  return text;
}

void posix_failures() {
  consensus wrong;
  for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, sizeof(void*) / 2,
                                      3 * sizeof(void*), std::size_t{0x300}, SIZE_MAX}) {
    wrong.add(posix(alignment, 100), "alignment %zu", alignment);
  }
  expect("B1-10", "posix_memalign, sizes that are not alignments", wrong.text(), "EINVAL");
  const char* const why = "its manual says that errno is not set";
  stricter("B1-10", "posix_memalign(16, SIZE_MAX)", posix(16, SIZE_MAX), "ENOMEM", why);
  stricter("B1-10", "posix_memalign(page, -page)", posix(page, -page), "ENOMEM", why);
}

void posix_successes() {
  consensus right;
  for (std::size_t alignment = sizeof(void*); alignment <= 65536; alignment *= 2) {
    for (const std::size_t size : {0UL, 1UL, 10UL, 1000UL}) {
      right.add(posix(alignment, size), "alignment %zu, %zu bytes", alignment, size);
    }
  }
  expect("B1-10", "posix_memalign of 0 bytes and more", right.text(), "0");
  expect("B1-10", "posix_memalign(0x100, 10)", posix(0x100, 10), "0");
  done("B1-10");
}

const char* by_aligned_alloc(std::size_t alignment, std::size_t size) {
  return settled(ask([&] { return aligned_alloc(hidden(alignment), hidden(size)); }));
}

void by_standard() {
  expect("B1-11", "aligned_alloc(64, 64)", by_aligned_alloc(64, 64), "block");
  expect("B1-11", "aligned_alloc(1, 64)", by_aligned_alloc(1, 64), "block");
  expect("B1-11", "aligned_alloc(4096, 100), not a multiple", by_aligned_alloc(4096, 100), "block");
  const char* const why = "an alignment must be a power of two; older C libraries round it up";
  stricter("B1-11", "aligned_alloc(0, 64)", by_aligned_alloc(0, 64), "NULL, EINVAL", why);
  stricter("B1-11", "aligned_alloc(65, 64)", by_aligned_alloc(65, 64), "NULL, EINVAL", why);
  stricter("B1-11", "aligned_alloc(SIZE_MAX, 64)", by_aligned_alloc(SIZE_MAX, 64), "NULL, EINVAL",
           why);
  observe("B1-11", "aligned_alloc(SIZE_MAX / 2 + 1, 64)", by_aligned_alloc(half, 64));
  const answer got = ask([] { return aligned_alloc(hidden(half), hidden(64UL)); });
  expect("B1-11", "no block is aligned to SIZE_MAX / 2 + 1",
         got.block == nullptr ? "NULL" : "block", "NULL");
  done("B1-11");
}

const char* by_memalign(std::size_t alignment, std::size_t size) {
  return settled(ask([&] { return memalign(hidden(alignment), hidden(size)); }));
}

/// Returns: what valloc or pvalloc gives for 0 bytes.
template <class Call>
const char* empty_page(const Call& call) {
  void* const block = hidden(call(hidden(std::size_t{0})));
  const char* const value = block == nullptr          ? "NULL"
                            : is_aligned(block, page) ? "block at a page"
                                                      : "block, not at a page";
  std::free(block);
  return value;
}

void by_tradition() {
  const char* const too_much = "NULL, ENOMEM";
  expect("B1-12", "memalign(page, -page)", by_memalign(page, -page), too_much);
  expect("B1-12", "valloc(-page)", settled(ask([] { return valloc(hidden(-page)); })), too_much);
  expect("B1-12", "pvalloc(-page)", settled(ask([] { return pvalloc(hidden(-page)); })), too_much);
  expect("B1-12", "pvalloc(SIZE_MAX)", settled(ask([] { return pvalloc(hidden(SIZE_MAX)); })),
         too_much);
  expect("B1-12", "memalign(SIZE_MAX, page)", by_memalign(SIZE_MAX, page), "NULL, EINVAL");
  consensus wraps;
  for (std::size_t alignment = 16; alignment <= half / 2; alignment *= 2) {
    wraps.add(by_memalign(alignment, 1 - alignment), "alignment %zu", alignment);
  }
  expect("B1-12", "memalign(alignment, 1 - alignment)", wraps.text(), too_much);
  expect("B1-12", "memalign(48, 100), not a power of two", by_memalign(48, 100), "block");
  expect("B1-12", "valloc(0)", empty_page([](std::size_t size) { return valloc(size); }),
         "block at a page");
  expect("B1-12", "pvalloc(0)", empty_page([](std::size_t size) { return pvalloc(size); }),
         "block at a page");
  void* const whole = hidden(pvalloc(hidden(page + 1)));
  const bool fits = is_aligned(whole, page) && malloc_usable_size(whole) >= 2 * page;
  expect("B1-12", "pvalloc rounds up to whole pages", yes_or_no(fits), "yes");
  std::free(whole);
  done("B1-12");
}

/// Effects: writes its ends. Returns: it is as it was asked for.
bool is_right(void* block, std::size_t alignment, std::size_t size) {
  if (block == nullptr || !is_aligned(block, alignment)) return false;
  const std::size_t usable = malloc_usable_size(block);
  if (usable < size) return false;
  auto* const bytes = static_cast<unsigned char*>(block);
  if (usable > 0) bytes[0] = bytes[usable - 1] = 1;
  return true;
}

void every_alignment() {
  consensus answers;
  for (std::size_t alignment = 1; alignment <= 128UL << 20; alignment *= 2) {
    for (const std::size_t size : {0UL, 8UL, 512UL, 1UL << 20, alignment, alignment + 1}) {
      void* blocks[5] = {};
      for (void*& block : blocks) {
        block = hidden(&block == blocks ? aligned_alloc(hidden(alignment), hidden(size))
                                        : memalign(hidden(alignment), hidden(size)));
        const bool right = is_right(block, alignment, size);
        answers.add(yes_or_no(right), "%zu bytes aligned to %zu", size, alignment);
      }
      for (void* block : blocks) std::free(block);
    }
  }
  expect("B1-13", "every alignment to 128 MiB, every kind of size", answers.text(), "yes");
}

void natural_alignment() {
  consensus answers;
  for (std::size_t size = 0; size < 300'000; size += 1 + size / 64) {
    void* blocks[4] = {};
    for (void*& block : blocks) {
      block = hidden(std::malloc(hidden(size)));
      answers.add(yes_or_no(is_right(block, 16, size)), "malloc of %zu", size);
    }
    for (void*& block : blocks) {
      block = hidden(std::realloc(block, hidden(size * 2 + 1)));
      answers.add(yes_or_no(is_right(block, 16, size * 2 + 1)), "realloc to %zu", size * 2 + 1);
    }
    for (void* block : blocks) std::free(block);
  }
  expect("B1-13", "malloc and realloc are aligned to 16", answers.text(), "yes");
  done("B1-13");
}

} // namespace

int main() {
  introduce();
  posix_failures();
  posix_successes();
  by_standard();
  by_tradition();
  every_alignment();
  natural_alignment();
}
