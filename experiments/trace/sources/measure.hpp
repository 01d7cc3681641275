// What the experiments that play a trace share: their parameters, and a sample.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/memory/resident.hpp"
#include "sources/player.hpp"

namespace traces {

/// Declares `schedule` and `touch`. The lists are the schedules by default, and under --smoke.
inline std::vector<parameter> ways_to_play(std::vector<value> schedules, std::vector<value> smoke) {
  return {{"schedule",
           "fast: threads run freely; order: exactly as recorded; paced: with gaps",
           std::move(schedules),
           std::move(smoke),
           "",
           1,
           {"fast", "order", "paced"}},
          {"touch",
           "line: blocks are written to; none: only the allocator touches memory",
           {"line"},
           {"line"},
           "",
           1,
           {"line", "none"}}};
}

inline const std::vector<quantity> played_quantities = {
    {"time", "ns/op", better::lower, "wall time over all calls"},
    processor_time,
    {"peak_memory", "bytes", better::lower, "resident memory above the start"}};

/// Plays a script in each repeat, with the schedule and the touch of the cell, and checks the work.
inline void measure_script(cell& the_cell, const script& plays) {
  const script_header& wanted = plays.header();
  const std::string_view name = the_cell.text("schedule");
  const schedule how{name != "fast", name == "paced", the_cell.text("touch") == "line"};
  // Threads that run freely may have more or fewer bytes alive at once than the program had.
  const bool ordered = how.exact || wanted.threads == 1;
  std::uint64_t local_slots = 0;
  for (const thread_part& part : plays.threads()) local_slots += part.slots;
  the_cell.each_repeat([&](sample& one) {
    const mapped_array<slot> local{local_slots};
    const mapped_array<slot> shared{wanted.shared_slots};
    std::array<std::optional<pool_of_site>, most_pooled_sites> pools;
    const mapped_array<player> players{wanted.threads};
    const mapped_array<wake_word> sleepers{wanted.threads};
    recorded_order order{sleepers.span()};
    std::uint64_t next_slot = 0;
    for (std::size_t i = 0; i < players.size(); ++i) {
      const thread_part& part = plays.threads()[i];
      players[i] = player{.plays = &plays,
                          .part = &part,
                          .all = players.span(),
                          .how = how,
                          .local = local.data() + next_slot,
                          .shared = shared.data(),
                          .pools = pools,
                          .order = &order,
                          .live = nullptr};
      players[i].live = ordered ? &players[0].own : &players[i].own;
      next_slot += part.slots;
    }
    resident_meter resident;
    for (std::size_t i = 0; i < plays.pooled().size(); ++i) pools[i].emplace(plays.pooled()[i]);
    players[0].prepare();
    one.time("time", wanted.calls, [&] {
      players[0].run();
      for (player& each : players) {
        if (each.started) pthread_join(each.thread, nullptr);
      }
    });
    one.set_processor_time(wanted.calls);
    one.set("peak_memory", static_cast<double>(resident.peak()));
    the_cell.expect_calls(wanted.prepared + wanted.blocks);
    std::uint64_t calls = 0;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t failed = 0;
    for (const player& each : players) {
      calls += each.calls;
      blocks += each.blocks;
      bytes += each.bytes;
      failed += each.failed;
    }
    const std::uint64_t peak = ordered ? players[0].own.peak() : wanted.peak_live_bytes;
    the_cell.check("work",
                   calls == wanted.calls && blocks == wanted.blocks && bytes == wanted.bytes &&
                       peak == wanted.peak_live_bytes && failed == 0,
                   "{} of {} calls, {} of {} blocks, {} of {} bytes, peak {} of {}, "
                   "{} failed",
                   calls, wanted.calls, blocks, wanted.blocks, bytes, wanted.bytes, peak,
                   wanted.peak_live_bytes, failed);
  });
}

} // namespace traces
