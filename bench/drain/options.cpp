#include "drain/options.hpp"

#include <cstdlib>
#include <cstring>

namespace heapwise::bench {

namespace {

bool read_option(const std::string& name, const char* value, recording_options& read) {
  const bool truth = std::strcmp(value, "1") == 0;
  if (name == "-o") {
    read.trace = value;
  } else if (name == "--recorder") {
    read.recorder = value;
  } else if (name == "--about") {
    read.about = value;
  } else if (name == "--result") {
    read.result = value;
  } else if (name == "--max-bytes") {
    read.most_bytes = std::strtoull(value, nullptr, 10);
  } else if (name == "--stack-every") {
    read.stack_every = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
  } else if (name == "--frame-pointers") {
    read.frame_pointers = truth;
  } else if (name == "--start-paused") {
    read.starts_paused = truth;
  } else if (name == "--follow") {
    read.follows = truth;
  } else if (name == "--sample-every") {
    read.sample_every = std::strtoull(value, nullptr, 10);
  } else {
    return false;
  }
  return true;
}

} // namespace

bool read_options(int argc, char** argv, recording_options& read) {
  int i = 1;
  for (; i + 1 < argc && std::strcmp(argv[i], "--") != 0; i += 2) {
    if (!read_option(argv[i], argv[i + 1], read)) return false;
  }
  if (i + 1 >= argc || std::strcmp(argv[i], "--") != 0) return false;
  read.program = argv + i + 1;
  return !read.trace.empty() && !read.recorder.empty();
}

} // namespace heapwise::bench
