#include "launcher/machine.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace heapwise::bench {
namespace {

class small_file {
 public:
  explicit small_file(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t got = read(file, text_, sizeof text_ - 1);
    text_[got < 0 ? 0 : got] = '\0';
    close(file);
  }

  /// The number after the first `label`; -1 without it.
  [[nodiscard]] std::int64_t number_after(const char* label) const {
    const char* at = std::strstr(text_, label);
    return at == nullptr ? -1 : std::strtoll(at + std::strlen(label), nullptr, 10);
  }

  [[nodiscard]] const char* text() const { return text_; }

 private:
  char text_[4096] = {};
};

} // namespace

std::int64_t read_steal_ticks() {
  constexpr int fields_before = 7; // user nice system idle iowait irq softirq, see proc(5)
  const small_file stat{"/proc/stat"};
  if (std::strncmp(stat.text(), "cpu ", 4) != 0) return -1;
  char* at = const_cast<char*>(stat.text()) + 4;
  for (int field = 0; field < fields_before; ++field) std::strtoll(at, &at, 10);
  return std::strtoll(at, nullptr, 10);
}

std::int64_t read_psi_cpu_us() { return small_file{"/proc/pressure/cpu"}.number_after("total="); }

std::int64_t read_own_peak_bytes() {
  const std::int64_t kibibytes = small_file{"/proc/self/status"}.number_after("VmHWM:");
  return kibibytes < 0 ? -1 : kibibytes * 1024;
}

} // namespace heapwise::bench
