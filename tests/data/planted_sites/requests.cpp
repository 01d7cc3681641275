// Each request makes 300 blocks of 16 to 900 bytes, which end with it.
#include "planted.hpp"

namespace {

#ifdef PLANTED
heapwise::arena request;
char* make_part(std::size_t bytes) { return static_cast<char*>(request.allocate(bytes)); }
#else
[[gnu::noinline]] char* make_part(std::size_t bytes) {
  return static_cast<char*>(std::malloc(bytes));
}
#endif

} // namespace

int main(int argc, char** argv) {
  planted::noise noise;
  planted::random numbers;
  std::uint64_t sum = 0;
  const std::uint64_t steps = planted::steps(argc, argv, 1'000'000);
  char* parts[300];
  for (std::uint64_t i = 0; i < steps; i += 300) {
    for (char*& part : parts) {
      const std::size_t bytes = 16 + numbers.below(885);
      part = make_part(bytes);
      for (std::size_t at = 0; at < bytes; at += 64) part[at] = static_cast<char>(i);
    }
    for (char* part : parts) sum += static_cast<unsigned char>(part[0]);
#ifdef PLANTED
    request.reset();
#else
    for (char* part : parts) std::free(part);
#endif
    for (int turn = 0; turn < 20; ++turn) noise.step();
  }
  return sum == 1;
}
