// Fills its ring while the drain waits, until the recorder has called the drain. Exits with 1 if it
// never does.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "trace/shared.hpp"

using namespace heapwise::bench;

int main() {
  const int file = open(std::getenv(record_variable), O_RDWR | O_CLOEXEC);
  void* mapping = mmap(nullptr, control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || mapping == MAP_FAILED) return 2;
  const drain_alarm& alarm = static_cast<shared_memory*>(mapping)->alarm;
  const std::uint32_t calls = alarm.calls();
  // More than once: the drain may begin to look between this thread's look and its calls.
  for (int i = 0; i < 1000 && alarm.calls() == calls; ++i) {
    while (!alarm.waits()) usleep(100);
    for (std::uint64_t event = 0; event < events_to_alarm; event += 2) free(malloc(100));
  }
  return alarm.calls() != calls ? 0 : 1;
}
