// Finding keys in four containers, few and hot or many with half of them missing.
//
// build: aligned_loops
// optional: ABSL = package absl target absl::flat_hash_map
#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/rate.hpp"

#if defined(HEAPWISE_HAS_ABSL)
#include <absl/container/flat_hash_map.h>
#endif

namespace {

using namespace heapwise::bench;

using key = std::uint64_t;
using entries = std::vector<std::pair<key, std::uint64_t>>;

/// Adds what is found, so that the sum says which keys were found and with what value.
template <class Map>
struct map_lookup {
  explicit map_lookup(const entries& all) : map(all.begin(), all.end()) {}
  void add(key wanted, std::uint64_t& sum) const {
    if (const auto entry = map.find(wanted); entry != map.end()) sum += entry->second;
  }
  static constexpr std::uint64_t times = 1;
  Map map;
};

struct sorted_lookup {
  explicit sorted_lookup(const entries& all) : sorted{all} { std::ranges::sort(sorted); }
  void add(key wanted, std::uint64_t& sum) const {
    const auto entry = std::ranges::lower_bound(sorted, wanted, {}, &entries::value_type::first);
    if (entry != sorted.end() && entry->first == wanted) sum += entry->second;
  }
  static constexpr std::uint64_t times = 1;
  entries sorted;
};

/// The keys that are asked for are read and nothing is looked up.
struct no_lookup {
  explicit no_lookup(const entries&) {}
  void add(key wanted, std::uint64_t& sum) const { sum += wanted; }
  static constexpr std::uint64_t times = 16;
};

struct regime {
  std::size_t keys;
  std::uint64_t misses_of_ten;
  std::uint64_t times; ///< lookups of hot keys are fast: more of them, or the clock shows
  bool in_turn;        ///< the keys are asked for in the order in which they were inserted
};

regime regime_of(std::string_view name) {
  if (name == "hot") return {64, 0, 8, false};
  if (name == "hot_in_turn") return {256, 0, 8, true};
  return {65'536, 5, 1, false};
}

/// What is in the container, what is asked for, and the sum that the answers must have.
struct questions {
  questions(cell& the_cell, bool looks_up)
      : chosen{regime_of(the_cell.text("set"))}, asked{the_cell.size("lookups")} {
    for (std::size_t i = 0; i < chosen.keys; ++i) {
      held.emplace_back(2 * the_cell.random().next(), the_cell.random().next());
    }
    std::size_t turn = 0;
    for (auto& each : asked) {
      const std::size_t at =
          chosen.in_turn ? turn++ % chosen.keys : the_cell.random().below(chosen.keys);
      const auto& [existing, value] = held[at];
      const bool misses = the_cell.random().below(10) < chosen.misses_of_ten;
      each = misses ? 2 * the_cell.random().next() + 1 : existing; // held keys are even
      expected += looks_up ? (misses ? 0 : value) : each;
    }
    escape(asked.data());
  }

  regime chosen;
  entries held;
  mapped_array<key> asked;
  std::uint64_t expected = 0; ///< of asking for each once
};

template <class Lookup>
void measure(cell& the_cell) {
  const questions all{the_cell, !std::is_same_v<Lookup, no_lookup>};
  const Lookup lookup{all.held};
  escape(&lookup);
  const std::uint64_t times = all.chosen.times * Lookup::times;
  measure_rate(the_cell, times * all.asked.size(), times * all.expected, [&] {
    std::uint64_t sum = 0;
    for (std::uint64_t time = 0; time < times; ++time) {
      for (const key wanted : all.asked) {
        lookup.add(wanted, sum);
        forget(sum);
      }
    }
    return sum;
  });
}

#if defined(HEAPWISE_HAS_ABSL)
constexpr auto flat = measure<map_lookup<absl::flat_hash_map<key, std::uint64_t>>>;
constexpr const char* flat_reason = "";
#else
constexpr void (*flat)(cell&) = nullptr;
constexpr const char* flat_reason =
    "built without Abseil: install libabsl-dev (its flat_hash_map) and build again";
#endif

const experiment question{
    .id = "containers/lookup",
    .question = "Which container finds a key fastest?",
    .isolates =
        "Lookups of random 64-bit keys in random order on one thread: `hot` asks for 64 keys that "
        "are all there, `mixed` for 65536 keys and as many that are not there. `hot_in_turn` asks "
        "for 256 keys over and over in the order in which they were inserted, as the report "
        "latency-lab does: the processor learns which way each branch goes.",
    .not_shown =
        "Insertion, removal, iteration, strings. Lookups do not wait for each other, so that "
        "their misses of the cache overlap; a program that needs one answer before it can ask "
        "again waits longer. Which keys are hit follows no pattern: a sorted vector and a map "
        "take as many mispredicted branches as that costs. std::hash of a number is the number in "
        "libstdc++; latency-lab's 1.2 G lookups/s in an unordered_map are less than three cycles "
        "for "
        "each and hardly were lookups of keys that the compiler did not know.",
    .parameters =
        {{"set",
          "of keys: hot (64, all found), hot_in_turn (256, in order) or mixed (65536, half of "
          "the lookups miss)",
          {"hot", "hot_in_turn", "mixed"},
          {"hot", "hot_in_turn", "mixed"}},
         {"lookups", "in the timed region; of hot sets, eight times as many", {262'144}, {4096}}},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one lookup"}, processor_time},
    .subjects = {{"map", "std::map", measure<map_lookup<std::map<key, std::uint64_t>>>},
                 {"unordered_map", "std::unordered_map",
                  measure<map_lookup<std::unordered_map<key, std::uint64_t>>>},
                 {"sorted_vector", "std::vector, sorted, binary search", measure<sorted_lookup>},
                 {"flat_hash_map", "absl::flat_hash_map", flat, flat_reason},
                 {"empty_loop", "the keys are read, nothing is looked up", measure<no_lookup>}},
    .baseline = "unordered_map",
    .expectations = {{.says = "among many keys a hash table is at least twice as fast as a tree",
                      .quantity = rate_name,
                      .subject = "unordered_map",
                      .over = "map",
                      .parameters = {{"set", "mixed"}},
                      .at_least = 2.0}},
    .answers = {{.quantity = "throughput"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
