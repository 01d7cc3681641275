// What the programs with planted call sites share. With PLANTED, each of them has the pool or the
// arena that `heapwise advise` should name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#ifdef PLANTED
#include <heapwise/heapwise.hpp>
#endif

namespace planted {

/// xorshift64 (Marsaglia, 2003).
class random {
 public:
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t state_ = 88172645463325252;
};

/// Blocks of many sizes that live for a while, which no pool fits.
class noise {
 public:
  noise() = default;
  noise(const noise&) = delete;
  noise& operator=(const noise&) = delete;
  ~noise() {
    for (char* block : kept_) std::free(block);
  }

  [[gnu::noinline]] void step() {
    char*& place = kept_[numbers_.below(kept_.size())];
    std::free(place);
    const std::size_t size = 16 + numbers_.below(2000);
    place = static_cast<char*>(std::malloc(size));
    for (std::size_t i = 0; i < size; i += 64) place[i] = 1;
  }

 private:
  random numbers_;
  std::array<char*, 256> kept_{};
};

inline std::uint64_t steps(int argc, char** argv, std::uint64_t usual) {
  return argc > 1 ? std::strtoull(argv[1], nullptr, 10) : usual;
}

#ifdef PLANTED
inline heapwise::pool_options growing(std::size_t block_size) {
  return {.block_size = block_size, .block_count = 256, .growth = heapwise::growth::geometric};
}
#endif

} // namespace planted
