// The parts of a trace that are text: JSON that names the process, its modules, and its totals.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "drain/calls/call.hpp"
#include "drain/calls/resolver.hpp"
#include "trace/shared.hpp"

namespace heapwise::bench {

struct process_identity {
  pid_t id = 0;
  pid_t parent = 0;
  bool is_first = false; ///< the program that was started, not a child of it
  bool is_forked = false;
};

/// What is known of a recording at its end, beside what the events say.
struct recording_end {
  std::uint64_t kept_events = 0;
  std::uint64_t windows = 0;
  std::uint32_t threads = 0;
  std::uint64_t threads_missed = 0;
  std::uint64_t events_missed = 0;
  std::uint64_t other_processes = 0;
  std::uint64_t forked_processes = 0;
  std::uint32_t images = 0;
  std::string other_program = "null"; ///< JSON, of other_program
  std::uint64_t pauses = 0;
  double paused_s = 0;
  double ns_a_unit = 0;
  double wall_s = 0;
  std::optional<int> status; ///< as waitpid gives it; not known of children
};

/// `about` is an object in JSON; the process is added to it.
[[nodiscard]] std::string about_json(const std::string& about, const process_identity& process,
                                     const image_log& images);

[[nodiscard]] std::string modules_json(const maps_text& maps, const call_sites& sites);

/// `commands` is an array in JSON, of commands_json.
[[nodiscard]] std::string summary_json(const recording_totals& totals, const recording_end& end,
                                       const std::string& commands);

/// The arguments of each program that the process was. The first ones go if they are too long.
[[nodiscard]] std::string commands_json(const image_log& images);

} // namespace heapwise::bench
