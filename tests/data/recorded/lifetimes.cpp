// A program that knows how long its blocks live: what the tests of profiles compare with.
//
// Prints how many blocks and bytes it asked for, how many of them at each call site, and three
// quantiles of their lifetimes in nanoseconds. Its own tables take no memory of the allocator.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>

namespace {

constexpr int most_blocks = 200'000;
constexpr int most_steps = most_blocks + 10'001;

struct known_block {
  void* address;
  double made;
  int next; ///< that ends at the same step
};

std::array<known_block, most_blocks> blocks;
std::array<int, most_steps> first_end; ///< 0: none; else a number, plus 1
std::array<double, most_blocks> lifetimes;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

[[gnu::noinline]] void* make_small(std::size_t size) {
  void* block = malloc(size);
  asm volatile("" : "+r"(block)); // not a tail call: the site is in this function
  return block;
}

[[gnu::noinline]] void* make_large(std::size_t size) {
  void* block = ::operator new(size);
  asm volatile("" : "+r"(block));
  return block;
}

} // namespace

int main() {
  std::uint64_t random = 1;
  std::uint64_t small_bytes = 0;
  std::uint64_t large_bytes = 0;
  int large = 0;
  int ended = 0;
  for (int step = 0; step < most_steps; ++step) {
    for (int each = first_end[step]; each != 0; each = blocks[each - 1].next) {
      known_block& block = blocks[each - 1];
      lifetimes[ended++] = now() - block.made;
      free(block.address);
    }
    if (step >= most_blocks) continue;
    random = random * 6364136223846793005 + 1442695040888963407;
    const bool is_large = (random >> 33) % 50 == 0;
    const std::size_t size = is_large ? 20'000 : 16 + (random >> 40) % 600;
    (is_large ? large_bytes : small_bytes) += size;
    large += is_large ? 1 : 0;
    // From 1,000 to 10,000 steps, each factor as likely as another.
    const int life = static_cast<int>(
        1000 * std::pow(10.0, static_cast<double>(random >> 11) / 9007199254740992.0));
    known_block& block = blocks[step];
    block.address = is_large ? make_large(size) : make_small(size);
    block.made = now();
    block.next = first_end[step + life];
    first_end[step + life] = step + 1;
  }
  std::sort(lifetimes.begin(), lifetimes.begin() + ended);
  std::array<char, 512> line{};
  const int length =
      std::snprintf(line.data(), line.size(),
                    "{\"blocks\": %d, \"large\": %d, \"small_bytes\": %llu, \"large_bytes\": %llu, "
                    "\"lifetimes\": [%.0f, %.0f, %.0f]}\n",
                    most_blocks, large, static_cast<unsigned long long>(small_bytes),
                    static_cast<unsigned long long>(large_bytes), lifetimes[ended / 10],
                    lifetimes[ended / 2], lifetimes[ended * 9 / 10]);
  return write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(length)) == length ? 0 : 1;
}
