#include "launcher/memory/process_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launcher/facts/small_file.hpp"

namespace heapwise::bench {
namespace {

/// Where the stack of a process begins, which a fork has in the same place and a program that was
/// executed in another. 0 if it is not known.
std::uint64_t stack_start(pid_t process) {
  constexpr int field = 28; // of proc(5)
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(process));
  const small_file file{path};
  const char* at = std::strrchr(file.text(), ')'); // its name, field 2, may hold anything
  for (int i = 2; at != nullptr && i < field; ++i) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
}

bool is_fork(const tree_process& process) {
  return process.parent != 0 && stack_start(process.pid) == stack_start(process.parent);
}

} // namespace

sharing::known* sharing::find(pid_t pid) {
  const auto end = processes_ + count_;
  const auto match =
      std::find_if(processes_, end, [pid](const known& each) { return each.pid == pid; });
  return match == end ? nullptr : match;
}

std::int64_t sharing::proportional_kib(const tree_process& process, const process_memory& now,
                                       bool alone) {
  known* one = find(process.pid);
  if (one == nullptr) {
    const bool forked = is_fork(process);
    add({process.pid, now, forked ? 0 : now.resident_kib, forked});
    return forked ? 0 : now.resident_kib;
  }
  if (one->forked && !is_fork(process)) *one = {process.pid, now, now.resident_kib, false};
  const std::int64_t growth = alone ? now.resident_kib - one->then.resident_kib
                                    : now.anonymous_kib - one->then.anonymous_kib;
  return std::max<std::int64_t>(0, one->proportional_kib + growth);
}

} // namespace heapwise::bench
