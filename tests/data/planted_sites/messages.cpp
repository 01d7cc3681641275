// Messages of 200 bytes from malloc that end in random order.
#include "planted.hpp"

namespace {

constexpr std::size_t bytes = 200;

#ifdef PLANTED
heapwise::pool<heapwise::unsynchronized> messages{planted::growing(bytes)};
char* make_message() { return static_cast<char*>(messages.allocate()); }
void end_message(char* old) { messages.deallocate(old); }
#else
[[gnu::noinline]] char* make_message() { return static_cast<char*>(std::malloc(bytes)); }
void end_message(char* old) { std::free(old); }
#endif

char* waiting[3000];

} // namespace

int main(int argc, char** argv) {
  planted::noise noise;
  planted::random numbers;
  std::uint64_t sum = 0;
  const std::uint64_t steps = planted::steps(argc, argv, 1'000'000);
  for (std::uint64_t i = 0; i < steps; ++i) {
    char*& place = waiting[numbers.below(3000)];
    if (place != nullptr) {
      sum += static_cast<unsigned char>(place[0]);
      end_message(place);
    }
    place = make_message();
    for (std::size_t at = 0; at < bytes; at += 64) place[at] = static_cast<char>(i);
    if (i % 16 == 0) noise.step();
  }
  return sum == 1;
}
