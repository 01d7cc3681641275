// heapwise-script: makes a script for a replay of a trace.
//
//   heapwise-script TRACE WINDOW NS_A_UNIT SCRIPT [SITE[,SITE]...:BLOCK_SIZE:POLICY]...
//
// SITE is the number of a call site. The blocks of the sites of one argument come from one pool.
// POLICY is unsynchronized, thread_cached, sized or arena.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "player/script_writer.hpp"

namespace {

using namespace heapwise::bench;

constexpr const char* policies[] = {"unsynchronized", "thread_cached", "sized", "arena"};

bool read_pool(const std::string& text, pooling& result) {
  const std::size_t first = text.find(':');
  const std::size_t second = text.rfind(':');
  if (first == std::string::npos || second == first) return false;
  const std::string policy = text.substr(second + 1);
  std::uint64_t number = 0;
  while (number < std::size(policies) && policy != policies[number]) ++number;
  const std::uint64_t size = std::strtoull(text.c_str() + first + 1, nullptr, 10);
  if (size == 0 || number == std::size(policies)) return false;
  if (static_cast<pool_policy>(number) == pool_policy::sized && size > most_sized_bytes) {
    return false;
  }
  const auto pool = static_cast<unsigned>(result.pools.size());
  result.pools.push_back({size, static_cast<pool_policy>(number)});
  for (std::size_t at = 0; at < first; at = text.find_first_of(",:", at) + 1) {
    const auto site = std::strtoul(text.c_str() + at, nullptr, 10);
    result.of_site[static_cast<std::uint32_t>(site)] = pool;
  }
  return true;
}

} // namespace

int main(int argc, char** argv) {
  pooling pooled;
  bool usable = argc >= 5 && argc <= 5 + static_cast<int>(most_pooled_sites);
  for (int i = 5; usable && i < argc; ++i) usable = read_pool(argv[i], pooled);
  if (!usable) {
    std::fprintf(stderr,
                 "error E003: heapwise-script TRACE WINDOW NS_A_UNIT SCRIPT "
                 "[SITE[,SITE]...:BLOCK_SIZE:POLICY]...\n");
    return 2;
  }
  try {
    const auto window = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
    trace_reader trace{argv[1], window};
    write_script(trace, std::strtod(argv[3], nullptr), argv[4], pooled);
  } catch (const trace_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
