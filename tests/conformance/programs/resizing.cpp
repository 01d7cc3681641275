// B1-5 to B1-9: realloc.
#include "observe.hpp"

namespace {

using namespace conformance;

void* resize(void* block, std::size_t size) { return std::realloc(hidden(block), hidden(size)); }

void from_null() {
  expect("B1-5", "realloc(NULL, 100)", settled(ask([] { return resize(nullptr, 100); })), "block");
  expect("B1-5", "realloc(NULL, 0)", settled(ask([] { return resize(nullptr, 0); })), "block");
  expect("B1-5", "realloc(NULL, SIZE_MAX)", settled(ask([] { return resize(nullptr, SIZE_MAX); })),
         "NULL, ENOMEM");
  done("B1-5");
}

void to_nothing() {
  consensus answers;
  for (const std::size_t size : {0UL, 1UL, 100UL, 5'000UL, 100'000UL, 10'000'000UL}) {
    void* const block = hidden(std::malloc(size));
    errno = ERANGE;
    void* const got = hidden(resize(block, 0));
    answers.add(got != nullptr    ? "block"
                : errno == ERANGE ? "NULL, errno kept"
                                  : "NULL, errno set",
                "a block of %zu bytes", size);
    std::free(got);
  }
  expect("B1-6", "realloc(block, 0)", answers.text(), "NULL, errno kept");
  // Freed, not merely forgotten.
  const std::size_t before = resident_bytes();
  bool ended = true;
  for (int i = 0; i < 100'000 && ended; ++i) {
    void* const block = hidden(std::malloc(4000));
    ended = block != nullptr && resize(std::memset(block, 1, 4000), 0) == nullptr;
  }
  const bool freed = ended && resident_bytes() < before + (64UL << 20);
  expect("B1-6", "and frees the block", yes_or_no(freed), "yes");
  done("B1-6");
}

const char* after_failure(void* block, std::size_t size, answer got) {
  if (got.block != nullptr) return "block";
  if (!filled(block, size, size)) return "bytes lost";
  return got.error == ENOMEM ? "untouched, ENOMEM" : "untouched, another errno";
}

void failures() {
  consensus answers;
  for (const std::size_t size : {1UL, 24UL, 1000UL, 70'000UL, 3'000'000UL}) {
    void* const block = hidden(std::malloc(size));
    fill(block, size, size);
    for (const std::size_t wanted : {SIZE_MAX, SIZE_MAX / 2, std::size_t{PTRDIFF_MAX} + 1}) {
      const answer got = ask([&] { return resize(block, wanted); });
      answers.add(after_failure(block, size, got), "realloc of %zu to %zu", size, wanted);
    }
    const answer got =
        ask([&] { return reallocarray(hidden(block), hidden(SIZE_MAX / 2), hidden(3UL)); });
    answers.add(after_failure(block, size, got), "reallocarray of %zu", size);
    std::free(block);
  }
  expect("B1-7", "a failed realloc and reallocarray", answers.text(), "untouched, ENOMEM");
  done("B1-7");
}

/// Returns: `block` of `size` bytes, made `other` bytes long, has kept what it can.
bool keeps(void* block, std::size_t size, std::size_t other) {
  fill(block, size, size);
  void* const new_block = hidden(resize(block, other));
  const bool kept = new_block != nullptr && filled(new_block, size < other ? size : other, size) &&
                    malloc_usable_size(new_block) >= other;
  std::free(new_block);
  return kept;
}

void edges() {
  consensus answers;
  for (unsigned shift = 0; shift <= 20; ++shift) {
    const std::size_t power = std::size_t{1} << shift;
    const std::size_t step = shift < 10 ? 1 : shift < 16 ? 4 : 16;
    for (std::size_t size = power > 32 ? power - 32 : 1; size <= power + 32; size += step) {
      for (const std::size_t other : {size + 1, size - 1, size * 2, size / 2, size + 32}) {
        if (other == 0) continue;
        const bool kept = keeps(hidden(std::malloc(hidden(size))), size, other);
        answers.add(yes_or_no(kept), "%zu to %zu", size, other);
      }
    }
  }
  expect("B1-8", "realloc keeps the bytes at every edge", answers.text(), "yes");
}

void aligned_edges() {
  consensus answers;
  for (std::size_t alignment = 16; alignment <= 65536; alignment *= 2) {
    for (const std::size_t size : {1UL, 31UL, 100UL, 4096UL, 40'000UL, 200'000UL}) {
      for (const std::size_t other : {1UL, 33UL, 4097UL, 65'536UL, 400'000UL}) {
        const bool kept = keeps(hidden(memalign(hidden(alignment), size)), size, other);
        answers.add(yes_or_no(kept), "%zu aligned to %zu, to %zu", size, alignment, other);
      }
    }
  }
  expect("B1-8", "realloc of aligned blocks keeps the bytes", answers.text(), "yes");
  std::size_t size = 256 << 10;
  void* block = hidden(std::malloc(size));
  fill(block, size, 7);
  bool kept = true;
  for (int growth = 0; growth < 11; ++growth) {
    const std::size_t more = size + size / 2;
    block = hidden(resize(block, more));
    kept = kept && filled(block, size, 7);
    fill(block, size = more, 7);
  }
  std::free(block);
  expect("B1-8", "growing by half again and again keeps the bytes", yes_or_no(kept), "yes");
  done("B1-8");
}

void in_place() {
  consensus answers;
  for (std::size_t size = 1; size < 300'000; size += 1 + size / 3) {
    void* block = hidden(std::malloc(hidden(size)));
    const std::size_t usable = malloc_usable_size(block);
    for (const std::size_t other : {usable, size, usable, usable - 1, size}) {
      void* const before = block;
      block = hidden(resize(block, other));
      answers.add(yes_or_no(before == block), "%zu to %zu", size, other);
    }
    std::free(block);
  }
  expect("B1-9", "realloc within the usable size stays", answers.text(), "yes");
}

using free_sized_function = void (*)(void*, std::size_t);

/// After a shrink, the caller may say the new size when it frees.
void shrunk() {
  const auto free_sized = reinterpret_cast<free_sized_function>(dlsym(RTLD_DEFAULT, "free_sized"));
  consensus answers;
  for (const std::size_t size : {200UL, 4096UL, 40'000UL, 3'000'000UL}) {
    for (const std::size_t other : {1UL, 100UL, 1000UL, 150'000UL}) {
      if (other >= size) continue;
      static void* blocks[64];
      for (void*& block : blocks) block = hidden(resize(std::malloc(hidden(size)), other));
      for (void* block : blocks)
        free_sized != nullptr ? free_sized(block, other) : std::free(block);
      std::size_t tag = 0;
      for (void*& block : blocks) fill(block = hidden(std::malloc(other)), other, ++tag);
      tag = 0;
      bool intact = true;
      for (void* block : blocks) intact = filled(block, other, ++tag) && intact;
      for (void* block : blocks) std::free(block);
      answers.add(yes_or_no(intact), "%zu to %zu", size, other);
    }
  }
  expect("B1-9", "a shrunk block may be freed by its new size", answers.text(), "yes");
  done("B1-9");
}

} // namespace

int main() {
  introduce();
  from_null();
  to_nothing();
  failures();
  edges();
  aligned_edges();
  in_place();
  shrunk();
}
