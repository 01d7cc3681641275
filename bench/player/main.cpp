// heapwise-script: makes a script for a replay of a trace.
//
//   heapwise-script TRACE NS_A_UNIT SCRIPT [SITE:BLOCK_SIZE:POLICY]...
//
// SITE is the number of a call site whose blocks come from a pool; POLICY is unsynchronized or
// thread_cached.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "player/script_writer.hpp"

namespace {

using namespace heapwise::bench;

bool read_site(const char* text, std::map<std::uint32_t, pooled_site>& pooled) {
  unsigned site = 0;
  unsigned long long block_size = 0;
  char policy[16] = {};
  if (std::sscanf(text, "%u:%llu:%15s", &site, &block_size, policy) != 3 || block_size == 0) {
    return false;
  }
  const bool cached = std::strcmp(policy, "thread_cached") == 0;
  if (!cached && std::strcmp(policy, "unsynchronized") != 0) return false;
  pooled[site] = {block_size, cached ? pool_policy::thread_cached : pool_policy::unsynchronized};
  return true;
}

} // namespace

int main(int argc, char** argv) {
  std::map<std::uint32_t, pooled_site> pooled;
  bool usable = argc >= 4 && argc <= 4 + static_cast<int>(most_pooled_sites);
  for (int i = 4; usable && i < argc; ++i) usable = read_site(argv[i], pooled);
  if (!usable) {
    std::fprintf(stderr,
                 "error E003: heapwise-script TRACE NS_A_UNIT SCRIPT "
                 "[SITE:BLOCK_SIZE:POLICY]...\n");
    return 2;
  }
  try {
    trace_reader trace{argv[1]};
    write_script(trace, std::strtod(argv[2], nullptr), argv[3], pooled);
  } catch (const trace_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
