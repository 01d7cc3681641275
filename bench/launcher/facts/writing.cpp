#include "launcher/facts/writing.hpp"

#include <algorithm>

#include "launcher/facts/small_file.hpp"

namespace heapwise::bench {
namespace {

/// The probes make as many pages dirty, and the kernel some more for the folder they lie in.
constexpr std::int64_t pages_of_ours = 4 * std::int64_t{4096};

} // namespace

writing writing::now() {
  const small_file io{"/proc/self/io"};
  return {io.number_after("wchar: "), io.number_after("\nwrite_bytes: ")};
}

std::int64_t writing::since(const writing& before, std::int64_t ours) const {
  if (before.calls_bytes < 0 || calls_bytes < 0) return -1;
  const std::int64_t pages = pages_bytes - before.pages_bytes - ours - pages_of_ours;
  return std::max({calls_bytes - before.calls_bytes - ours, pages, std::int64_t{0}});
}

} // namespace heapwise::bench
