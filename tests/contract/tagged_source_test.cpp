// Sources whose addresses carry a tag in the top byte, as those of hardware-assisted address
// sanitizers and of memory tagging do. Processors of 64-bit ARM ignore that byte; on others the tag
// is 0 here, and what remains is a pool that grows.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "policies.hpp"
#include "stress/threads.hpp"

namespace {

#if defined(__aarch64__)
constexpr bool has_tags = true;
#else
constexpr bool has_tags = false;
#endif

/// Gives each piece of memory a tag of its own; the first has none.
class tagging_source final : public heapwise::block_source {
 public:
  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override {
    void* const memory = heapwise::os_blocks().allocate(size_bytes, alignment);
    if (memory == nullptr) return nullptr;
    const std::uintptr_t tag = has_tags ? pieces_++ * 0x35 % 0x100 : 0;
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) | tag << 56);
  }
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override {
    constexpr std::uintptr_t address_bits = (std::uintptr_t{1} << 56) - 1;
    const auto address = reinterpret_cast<std::uintptr_t>(memory) & address_bits;
    heapwise::os_blocks().deallocate(reinterpret_cast<void*>(address), size_bytes, alignment);
  }
  [[nodiscard]] std::size_t granularity_bytes() const noexcept override {
    return heapwise::os_blocks().granularity_bytes();
  }

 private:
  std::uintptr_t pieces_ = 0;
};

CONTRACT_TEST_CASE("a pool whose chunks have tags hands out and takes back their blocks", S,
                   CONTRACT_SETTINGS) {
  constexpr std::size_t count = 1000;
  tagging_source source;
  typename S::pool_type blocks{S::options(40, count), source};
  stress::random draw{1};
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> mine = contract::drain(blocks, count);
    REQUIRE(mine.size() == count);
    for (void* const each : mine) std::memset(each, 0xEE, 40);
    for (std::size_t i = count; i > 1; --i) std::swap(mine[i - 1], mine[draw.below(i)]);
    for (void* const each : mine) REQUIRE(blocks.deallocate(each));
  }
}

} // namespace
