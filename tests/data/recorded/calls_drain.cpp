// Writes many events while the drain waits, but never fills its ring, until the recorder has called
// the drain. Exits with 1 if it never does.
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
  const shared_memory& memory = *static_cast<shared_memory*>(mapping);
  free(malloc(100)); // from now on this thread has the first ring
  const auto is_ready = [&] {
    const thread_slot& own = memory.slots[0];
    return memory.alarm.waits() && own.written.load() == own.read.load();
  };
  const std::uint32_t calls = memory.alarm.calls();
  // The drain waits for long if it has read all. More than once: it may begin to look by itself.
  for (int i = 0; i < 1000 && memory.alarm.calls() == calls; ++i) {
    while (!is_ready()) usleep(100);
    for (std::uint64_t event = 0; event < 2 * events_to_alarm; event += 2) free(malloc(100));
  }
  return memory.alarm.calls() != calls ? 0 : 1;
}
