// heapwise-script: makes a script for a replay of a trace.
//
//   heapwise-script TRACE NS_A_UNIT SCRIPT
#include <cstdio>
#include <cstdlib>

#include "player/script_writer.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "error E003: heapwise-script TRACE NS_A_UNIT SCRIPT\n");
    return 2;
  }
  try {
    heapwise::bench::trace_reader trace{argv[1]};
    heapwise::bench::write_script(trace, std::strtod(argv[2], nullptr), argv[3]);
  } catch (const heapwise::bench::trace_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
