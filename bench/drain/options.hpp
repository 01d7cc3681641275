// The command line of heapwise-record.
#pragma once

#include <cstdint>
#include <string>

namespace heapwise::bench {

struct recording_options {
  std::string trace;
  std::string recorder;
  std::string about = "{}";
  std::string result;
  std::uint64_t most_bytes = std::uint64_t{256} << 20;
  std::uint32_t stack_every = 256;
  bool frame_pointers = false;
  std::uint64_t sample_every = 0;
  bool starts_paused = false;
  bool follows = false;
  char** program = nullptr;
};

inline constexpr const char* recording_usage =
    "error E003: heapwise-record -o FILE --recorder LIBRARY [--max-bytes N]\n"
    "    [--stack-every N] [--frame-pointers 0|1] [--sample-every BYTES] [--follow 0|1]\n"
    "    [--start-paused 0|1] [--about JSON] [--result FILE] -- PROGRAM [ARGS]...\n";

/// Returns false for a command line that is not as recording_usage says.
bool read_options(int argc, char** argv, recording_options& read);

} // namespace heapwise::bench
