// Texts of 16 to 256 bytes that end in random order.
#include <cstring>
#include <optional>

#include "planted.hpp"

namespace {

struct text {
  char* bytes;
  std::size_t size;
};

#ifdef PLANTED
heapwise::pool<heapwise::unsynchronized>& pool_of(std::size_t bytes) {
  static std::optional<heapwise::pool<heapwise::unsynchronized>> pools[16];
  auto& found = pools[(bytes - 1) / 16];
  if (!found) found.emplace(planted::growing((bytes + 15) / 16 * 16));
  return *found;
}
char* make_text(std::size_t bytes) { return static_cast<char*>(pool_of(bytes).allocate()); }
void end_text(const text& old) { pool_of(old.size).deallocate(old.bytes); }
#else
[[gnu::noinline]] char* make_text(std::size_t bytes) {
  return static_cast<char*>(std::malloc(bytes));
}
void end_text(const text& old) { std::free(old.bytes); }
#endif

text kept[4000];

} // namespace

int main(int argc, char** argv) {
  planted::noise noise;
  planted::random numbers;
  std::uint64_t sum = 0;
  const std::uint64_t steps = planted::steps(argc, argv, 1'000'000);
  for (std::uint64_t i = 0; i < steps; ++i) {
    text& place = kept[numbers.below(4000)];
    if (place.bytes != nullptr) {
      sum += static_cast<unsigned char>(place.bytes[0]);
      end_text(place);
    }
    place.size = 16 + numbers.below(241);
    place.bytes = make_text(place.size);
    std::memset(place.bytes, static_cast<int>(i), place.size);
    if (i % 16 == 0) noise.step();
  }
  return sum == 1;
}
