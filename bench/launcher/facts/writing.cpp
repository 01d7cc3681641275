#include "launcher/facts/writing.hpp"

#include <algorithm>

#include "launcher/facts/small_file.hpp"

namespace heapwise::bench {
namespace {

/// For each file that is made or grows, by the probes too, the kernel writes pages of its own:
/// folders, tables of files, maps of free blocks. How many depends on the file system.
constexpr std::int64_t pages_of_the_kernel = 16 * std::int64_t{4096};

} // namespace

writing writing::now() {
  const small_file io{"/proc/self/io"};
  return {io.number_after("wchar: "), io.number_after("\nwrite_bytes: ")};
}

std::int64_t writing::since(const writing& before, written_for_us ours) const {
  if (before.calls_bytes < 0 || calls_bytes < 0) return -1;
  const std::int64_t in_calls = calls_bytes - before.calls_bytes - ours.to_pipes;
  const std::int64_t mapped = pages_bytes - before.pages_bytes - in_calls - pages_of_the_kernel;
  return std::max({in_calls - ours.to_files, mapped, std::int64_t{0}});
}

} // namespace heapwise::bench
