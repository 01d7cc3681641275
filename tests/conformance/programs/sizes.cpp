// B1-1 to B1-4: nothing, too much, products that wrap, and zeroes.
#include "observe.hpp"

namespace {

using namespace conformance;

void nothing() {
  void* const first = hidden(std::malloc(hidden(std::size_t{0})));
  void* const second = hidden(std::malloc(hidden(std::size_t{0})));
  expect("B1-1", "malloc(0)", first != nullptr && second != nullptr ? "block" : "NULL", "block");
  expect("B1-1", "two live blocks of 0 bytes differ", yes_or_no(first != second), "yes");
  std::free(first);
  std::free(second);
  done("B1-1");
}

void too_much(const char* id, consensus& answers, std::size_t size) {
  std::free(hidden(std::malloc(hidden(std::size_t{24})))); // must not be what comes back
  answers.add(settled(ask([&] { return std::malloc(hidden(size)); })), "%zu bytes", size);
  if (std::strcmp(id, "B1-2") != 0) return;
  std::free(hidden(std::malloc(hidden(std::size_t{300}))));
  answers.add(settled(ask([&] { return std::malloc(hidden(size)); })), "%zu bytes again", size);
}

void huge() {
  consensus named;
  for (const std::size_t size :
       {std::size_t{PTRDIFF_MAX} + 1, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX - 524287, SIZE_MAX - 4096}) {
    too_much("B1-2", named, size);
  }
  expect("B1-2", "malloc of SIZE_MAX and its neighbours", named.text(), "NULL, ENOMEM");
  consensus powers;
  for (unsigned shift = 47; shift < 64; ++shift) {
    const std::size_t power = std::size_t{1} << shift;
    for (const std::size_t size : {power - 1, power, power + 1}) too_much("B1-2", powers, size);
  }
  expect("B1-2", "malloc of 2^47 to 2^63, one less and one more", powers.text(), "NULL, ENOMEM");
  done("B1-2");
}

void products() {
  const std::size_t pairs[][2] = {
      {SIZE_MAX, 2}, {65537, SIZE_MAX / 65537 + 1}, {std::size_t{1} << 32, std::size_t{1} << 32}};
  consensus answers;
  for (const auto& [count, size] : pairs) {
    std::free(hidden(std::malloc(hidden(std::size_t{24}))));
    const answer one = ask([&] { return std::calloc(hidden(count), hidden(size)); });
    answers.add(settled(one), "calloc(%zu, %zu)", count, size);
    const answer other = ask([&] { return std::calloc(hidden(size), hidden(count)); });
    answers.add(settled(other), "calloc(%zu, %zu)", size, count);
  }
  expect("B1-3", "calloc of products that wrap", answers.text(), "NULL, ENOMEM");
  done("B1-3");
}

void empty_callocs() {
  const std::size_t pairs[][2] = {{0, 0}, {0, 100}, {100, 0}, {0, SIZE_MAX}, {SIZE_MAX, 0}};
  consensus answers;
  for (const auto& [count, size] : pairs) {
    const answer got = ask([&] { return std::calloc(hidden(count), hidden(size)); });
    answers.add(settled(got), "calloc(%zu, %zu)", count, size);
  }
  expect("B1-4", "calloc of no bytes", answers.text(), "block");
}

constexpr std::size_t together = 1000;

/// Effects: leaves `rounds` * `together` blocks dirty and free, then returns how many that calloc
/// gives for the same size are not all zero.
std::size_t dirty_after(std::size_t size, std::size_t rounds, bool with_purge) {
  static void* blocks[together];
  std::size_t dirty = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (void*& block : blocks) block = std::memset(hidden(std::malloc(size)), 0xa5, size);
    for (void* block : blocks) std::free(hidden(block));
    if (with_purge && round % 8 == 0) malloc_trim(0);
    for (void*& block : blocks) {
      block = hidden(std::calloc(1, hidden(size)));
      if (!is_zero(block, size)) ++dirty;
      std::memset(block, 0x5a, size);
    }
    for (void* block : blocks) std::free(hidden(block));
  }
  return dirty;
}

/// Blocks that malloc maps one by one: fewer of them, or the test is one of the kernel.
std::size_t dirty_large(std::size_t size) {
  std::size_t dirty = 0;
  for (int round = 0; round < 12; ++round) {
    void* const used = std::memset(hidden(std::malloc(size)), 0xa5, size);
    std::free(hidden(used));
    void* const block = hidden(std::calloc(hidden(size), 1));
    if (!is_zero(block, size)) ++dirty;
    std::memset(block, 0x5a, size);
    std::free(block);
  }
  return dirty;
}

void zeroes() {
  consensus small;
  std::uint64_t random = 4;
  for (std::size_t size : {5UL, 6UL, 15UL, 17UL, 31UL, 96UL, 0UL, 1UL, 2UL}) {
    if (size < 5) size = 1 + (random = random * 6364136223846793005U + 1442695040888963407U) % 2000;
    small.add(yes_or_no(dirty_after(size, 50, false) == 0), "%zu bytes", size);
  }
  expect("B1-4", "calloc gives zeroes where blocks were dirty", small.text(), "yes");
  consensus purged;
  for (const std::size_t size : {31UL, 96UL, 1000UL}) {
    purged.add(yes_or_no(dirty_after(size, 16, true) == 0), "%zu bytes", size);
  }
  expect("B1-4", "and after malloc_trim", purged.text(), "yes");
  consensus large;
  for (const std::size_t size : {100'000UL, 132'000UL, 1UL << 20, 5'000'001UL}) {
    large.add(yes_or_no(dirty_large(size) == 0), "%zu bytes", size);
  }
  expect("B1-4", "and where large blocks were dirty", large.text(), "yes");
  done("B1-4");
}

} // namespace

int main() {
  introduce();
  nothing();
  huge();
  products();
  empty_callocs();
  zeroes();
}
