// Where two threads run that have to do with each other: left to the kernel, or asked for.
//
// build: with_sanitizers
#include <atomic>
#include <optional>

#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "sources/baton.hpp"
#include "sources/processors.hpp"
#include "sources/rings.hpp"
#include "sources/transfer.hpp"

namespace {

using namespace heapwise::bench;
using namespace concurrency;

using number = message<sizeof(std::uint64_t)>;
constexpr std::size_t capacity = 1024;
constexpr std::size_t batch = 1;
constexpr int both = 2;

/// The processors that the threads ask for; nothing: they do not ask.
struct wanted {
  std::optional<unsigned> of[both];
};

wanted nothing(const cell&) { return {}; }

wanted different_cores(const cell& the_cell) {
  const processors where{the_cell, both};
  return {{where.of(0), where.of(1)}};
}

wanted same_processor(const cell& the_cell) {
  const processors where{the_cell, 1};
  return {{where.of(0), where.of(0)}};
}

wanted siblings(const cell& the_cell) {
  const processors where{the_cell, 1};
  const cpu_list same_core = siblings_of(where.of(0));
  for (int i = 1; i < static_cast<int>(where.count()); ++i) {
    if (same_core.contains(where.of(i))) return {{where.of(0), where.of(i)}};
  }
  the_cell.refuse("affinity", "no core has two hardware threads that this process may use");
}

/// What became of the requests of one team.
struct outcome {
  std::atomic<int> requested{0};
  std::atomic<int> verified{0};
};

/// Runs the body on both threads, each where it is wanted.
template <class Operations, class Body>
std::uint64_t measure_wanted(sample& the_sample, const wanted& where, outcome& told,
                             Operations&& operations, Body&& body) {
  return the_sample.measure_team(both, operations, [&](team_member& member) {
    const std::optional<unsigned> cpu = where.of[member.index()];
    if (!cpu) return body(member);
    ++told.requested;
    const stay here{*cpu};
    const bool before = here.kept();
    body(member);
    if (before && here.kept()) ++told.verified;
  });
}

/// The ring of concurrency/queue, one message at a time.
void measure_throughput(cell& the_cell, sample& the_sample, const wanted& where, outcome& told) {
  spsc_ring<number, capacity> queue;
  escape(&queue);
  transfer<number> all{{patience::crowded, 1}};
  transfer_pair<number> pair{batch};
  const std::uint64_t elapsed_ns = measure_wanted(
      the_sample, where, told, [&all] { return all.messages(); },
      [&](team_member& member) { pair.play(member, all, queue, duration_ns(the_cell)); });
  the_sample.set("throughput", millions_per_second(all.messages(), elapsed_ns));
  all.check(the_cell);
}

/// A turn to and fro.
void measure_round_trip(cell& the_cell, sample& the_sample, const wanted& where, outcome& told) {
  spin_baton<patience::crowded, 1> baton;
  escape(&baton);
  std::uint64_t handed_over = 0;
  std::uint64_t turns = 0;
  const std::uint64_t elapsed_ns = measure_wanted(
      the_sample, where, told, [&handed_over] { return handed_over; },
      [&](team_member& member) {
        member.start();
        if (member.index() == 0) {
          handed_over = lead(baton, member.start_ns() + duration_ns(the_cell));
        } else {
          turns = follow(baton);
        }
        member.stop();
      });
  the_sample.set("round_trip",
                 2 * static_cast<double>(elapsed_ns) / static_cast<double>(handed_over));
  the_cell.check("turns", 2 * turns == handed_over, "{} hand-overs, {} turns of the follower",
                 handed_over, turns);
}

template <wanted (*Where)(const cell&)>
void measure(cell& the_cell) {
  const wanted where = Where(the_cell);
  the_cell.each_repeat([&](sample& the_sample) {
    outcome told;
    measure_throughput(the_cell, the_sample, where, told);
    measure_round_trip(the_cell, the_sample, where, told);
    the_sample.set("requested", told.requested);
    the_sample.set("verified", told.verified);
    the_cell.check("placement", told.requested == told.verified,
                   "{} placements asked for, {} of them found again", told.requested.load(),
                   told.verified.load());
  });
}

const experiment question{
    .id = "concurrency/thread_placement",
    .question = "Does it matter on which processors two threads run that talk to each other?",
    .isolates =
        "The placement: the same ring and the same turn to and fro, with the two threads left to "
        "the kernel, kept on one processor, kept on two cores, or kept on the two hardware "
        "threads of one core. Both wait alike: 64 looks, then the processor is given away.",
    .not_shown =
        "Sockets and memory nodes, of which this machine may have only one. The kernel gives two "
        "busy threads a core each, but not at once, and threads that give the processor away look "
        "content to share one: default may be as either of the others, and differs from repeat to "
        "repeat. On one processor the threads take turns of up to 1024 messages, and no line has "
        "to move: the throughput can be good, the round trip cannot. requested and verified count "
        "the placements of a repeat, two threads in two regions; verified means that the kernel "
        "took the request, gives the same answer when asked, and that the thread was seen there "
        "before and after. A processor of a virtual machine is a thread of its host, which may "
        "move it: nothing here can see that. "
        "The report latency-lab counted 0 requests, 0 verified, and was right: its system "
        "has no call that binds a thread to a processor. The nearest, thread_policy_set with "
        "THREAD_AFFINITY_POLICY, only hints at sharing a cache, and on Apple's own processors the "
        "kernel has no affinity sets and answers KERN_NOT_SUPPORTED; classes of service choose "
        "between fast and frugal cores, no more. Its three rows were one and the same thing.",
    .parameters = {duration(12)},
    .quantities = {throughput("messages through a ring"),
                   {"round_trip", "ns", better::lower, "a turn to the other thread and back"},
                   {"requested", "per repeat", better::higher, "placements that were asked for"},
                   {"verified", "per repeat", better::higher, "placements that were found again"}},
    .subjects = {{"default", "left to the kernel", measure<nothing>},
                 {"same_core", "both on one processor", measure<same_processor>},
                 {"different_cores", "a core each", measure<different_cores>},
                 {"siblings", "the two hardware threads of one core", measure<siblings>}},
    .baseline = "different_cores", // the steadiest: where default runs is for the kernel to say
    .expectations = {{.says = "every placement on different cores is honoured",
                      .quantity = "verified",
                      .subject = "different_cores",
                      .at_least = 4},
                     {.says = "every placement on one processor is honoured",
                      .quantity = "verified",
                      .subject = "same_core",
                      .at_least = 4},
                     {.says = "threads that are left to the kernel request no processor",
                      .quantity = "requested",
                      .subject = "default",
                      .at_most = 0},
                     {.says = "a round trip on one processor takes at least twice as long",
                      .quantity = "round_trip",
                      .subject = "same_core",
                      .over = "different_cores",
                      .at_least = 2}},
    .answers = {{.quantity = "throughput", .subject = "same_core", .over = "different_cores"},
                {.quantity = "round_trip", .subject = "same_core", .over = "different_cores"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
