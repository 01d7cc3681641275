// Which processors a thread may use: read back from the kernel, never assumed.
#pragma once

#include <sched.h>

#include "line/json_line.hpp"

namespace heapwise::bench {

class cpu_list {
 public:
  cpu_list() noexcept { CPU_ZERO(&set_); }

  /// The processors that the kernel lets the calling thread use.
  static cpu_list of_this_thread() noexcept {
    cpu_list list;
    if (sched_getaffinity(0, sizeof list.set_, &list.set_) != 0) CPU_ZERO(&list.set_);
    return list;
  }

  /// Reads `0,2-5`; false if that is not what `text` holds.
  static bool parse(const char* text, cpu_list& list) noexcept {
    list = cpu_list{};
    while (true) {
      unsigned first = 0;
      if (!read_number(text, first)) return false;
      unsigned last = first;
      if (*text == '-' && !read_number(++text, last)) return false;
      if (last < first || last >= CPU_SETSIZE) return false;
      for (unsigned cpu = first; cpu <= last; ++cpu) list.insert(cpu);
      if (*text == '\0') return true;
      if (*text++ != ',') return false;
    }
  }

  void insert(unsigned cpu) noexcept { CPU_SET(cpu, &set_); }
  void insert_current() noexcept {
    if (const int cpu = sched_getcpu(); cpu >= 0) insert(static_cast<unsigned>(cpu));
  }
  void add(const cpu_list& other) noexcept { CPU_OR(&set_, &set_, &other.set_); }

  [[nodiscard]] bool contains(unsigned cpu) const noexcept { return CPU_ISSET(cpu, &set_); }
  [[nodiscard]] int size() const noexcept { return CPU_COUNT(&set_); }

  [[nodiscard]] bool within(const cpu_list& other) const noexcept {
    cpu_set_t both;
    CPU_AND(&both, &set_, &other.set_);
    return CPU_EQUAL(&both, &set_) != 0;
  }

  /// Asks the kernel to keep the calling thread on these; false if it refuses.
  [[nodiscard]] bool apply() const noexcept {
    return sched_setaffinity(0, sizeof set_, &set_) == 0;
  }

  void write(json_line& line) const noexcept {
    line.open('[');
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (contains(cpu)) line.value(cpu);
    }
    line.close(']');
  }

 private:
  static bool read_number(const char*& text, unsigned& number) noexcept {
    if (*text < '0' || *text > '9') return false;
    for (number = 0; *text >= '0' && *text <= '9'; ++text) {
      number = number * 10 + static_cast<unsigned>(*text - '0');
      if (number >= CPU_SETSIZE) return false;
    }
    return true;
  }

  cpu_set_t set_;
};

} // namespace heapwise::bench
