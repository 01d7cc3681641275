// Containers whose nodes come from pools: what a program with lists, maps, graphs and caches sees.
// build: begun_first
#include <optional>

#include "harness/experiment.hpp"
#include "harness/memory/resident.hpp"
#include "sources/containers/programs.hpp"

namespace {

using namespace heapwise::bench;

/// Numbers that the programs are given, drawn before the clock starts.
struct script {
  explicit script(cell& the_cell) : keys{the_cell.size("elements")}, draws{2 * keys.size()} {
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(i);
    the_cell.random().shuffle(keys.span());
    for (std::uint32_t& each : draws) {
      each = static_cast<std::uint32_t>(the_cell.random().below(keys.size()));
    }
  }

  [[nodiscard]] std::uint64_t bytes() const {
    return (keys.size() + draws.size()) * sizeof(std::uint32_t);
  }

  mapped_array<std::uint32_t> keys;
  mapped_array<std::uint32_t> draws;
};

/// A program of any kind, so that the loop over repeats is compiled once. A timed region has one of
/// these calls, for as many operations as there are elements.
class any_program {
 public:
  any_program() = default;
  any_program(const any_program&) = delete;
  any_program& operator=(const any_program&) = delete;
  virtual ~any_program() = default;

  virtual void build(containers::keys order) = 0;
  [[nodiscard]] virtual std::uint64_t walk() const = 0;
  virtual void churn(containers::keys draws) = 0;
  [[nodiscard]] virtual std::uint64_t expected() const = 0;
  virtual void destroy() = 0;
};

template <class Program>
class one_program final : public any_program {
 public:
  void build(containers::keys order) override { program_.emplace(order); }
  [[nodiscard]] std::uint64_t walk() const override { return program_->walk(); }
  void churn(containers::keys draws) override { program_->churn(draws); }
  [[nodiscard]] std::uint64_t expected() const override { return program_->expected(); }
  void destroy() override { program_.reset(); }

 private:
  std::optional<Program> program_;
};

/// allocations: how many one life of the program takes.
void live(cell& the_cell, const script& numbers, any_program& program, std::uint64_t allocations) {
  const std::size_t count = numbers.keys.size();
  resident_meter meter{numbers.bytes()};
  the_cell.each_repeat([&](sample& the_sample) {
    meter.restart_peak();
    std::uint64_t sums[2] = {};
    std::uint64_t expected[2] = {};
    the_sample.time("build", count, [&] { program.build(numbers.keys.span()); });
    expected[0] = program.expected();
    the_sample.time("walk", count, [&] { sums[0] = program.walk(); });
    the_sample.time("churn", count, [&] { program.churn(numbers.draws.span()); });
    expected[1] = program.expected();
    the_sample.time("walk_churned", count, [&] { sums[1] = program.walk(); });
    the_sample.set("peak_resident", static_cast<double>(meter.peak()));
    the_sample.time("destroy", count, [&] { program.destroy(); });
    the_sample.set_processor_time(5 * count);
    the_cell.check("work", sums[0] == expected[0] && sums[1] == expected[1],
                   "walks find {} and {}, expected {} and {}", sums[0], sums[1], expected[0],
                   expected[1]);
    the_cell.expect_calls(allocations);
  });
}

template <class Program>
void live(cell& the_cell) {
  const script numbers{the_cell};
  one_program<Program> program;
  live(the_cell, numbers, program, Program::allocations(numbers.keys.size(), numbers.draws.size()));
}

template <class Supply, std::size_t node_bytes>
void of_size(cell& the_cell) {
  using namespace containers;
  const std::string_view name = the_cell.text("container");
  if (name == "list") return live<list_program<Supply, node_bytes>>(the_cell);
  if (name == "map") return live<tree_program<Supply, node_bytes>>(the_cell);
  if (name == "unordered_map") return live<table_program<Supply, node_bytes>>(the_cell);
  if (name == "graph") return live<graph_program<Supply, node_bytes>>(the_cell);
  live<lru_program<Supply, node_bytes>>(the_cell);
}

template <class Supply>
void measure(cell& the_cell) {
  switch (the_cell.integer("node_bytes")) {
    case 32:
      return of_size<Supply, 32>(the_cell);
    case 64:
      return of_size<Supply, 64>(the_cell);
    case 256:
      return of_size<Supply, 256>(the_cell);
    default:
      the_cell.refuse("node_bytes", "32, 64 and 256 are compiled in");
  }
}

std::vector<subject> subjects() {
  using namespace containers;
  using heapwise::thread_cached;
  using heapwise::unsynchronized;
  std::vector<subject> all{
      {"unsynchronized", "heapwise::std_allocator, node_pool<unsynchronized>",
       measure<from_nodes<unsynchronized>>},
      {"unsynchronized_huge_pages", "the same, on heapwise::huge_blocks", measure<from_huge_nodes>},
      {"unsynchronized_bound", "the same, pool<unsynchronized> of node_size_bytes",
       measure<from_bound>},
      {"unsynchronized_pmr", "heapwise::pool_resource over pool<unsynchronized>",
       measure<from_pool_resource>},
      {"thread_cached", "heapwise::std_allocator, node_pool<thread_cached>",
       measure<from_nodes<thread_cached>>},
      {"malloc", "std::allocator over malloc", measure<from_malloc>, "", subject_kind::malloc},
      {"pmr_unsynchronized", "std::pmr::unsynchronized_pool_resource", measure<from_pmr>},
  };
#if defined(HEAPWISE_HAS_BOOST_POOL)
  all.push_back({"boost_fast_pool", "boost::fast_pool_allocator", measure<from_boost>});
#else
  all.push_back({"boost_fast_pool", "boost::fast_pool_allocator", nullptr,
                 "not in this build: install libboost-dev and build again"});
#endif
#if defined(HEAPWISE_HAS_FOONATHAN)
  all.push_back(
      {"foonathan_pool", "foonathan std_allocator over memory_pool", measure<from_foonathan>});
#else
  all.push_back({"foonathan_pool", "foonathan std_allocator over memory_pool", nullptr,
                 "not in this build: install libfoonathan-memory-dev and build again"});
#endif
  return all;
}

const experiment question{
    .id = "pool/containers",
    .question = "What do containers gain if their nodes come from a pool, and what do they hold?",
    .isolates =
        "The supply of nodes under five programs: a list, a map, an unordered_map, a graph and an "
        "LRU cache. Each is built in random order of keys, walked, changed at random as often as "
        "it has elements, walked again, and destroyed. Each process does so once, so that every "
        "supply pays its own page faults. Supplies are made in `build` and destroyed in `destroy`, "
        "with all that they hold. Every byte of an element is written when it is made and read by "
        "a walk.",
    .not_shown =
        "Several threads. The work of the container itself, above all of searching in a map, is in "
        "every figure and the same for all. Pools are told how many nodes there will be; "
        "std::allocator, std::pmr and boost::fast_pool_allocator cannot be told. A pool that is "
        "made before a container asks for a node needs blocks of heapwise::node_size_bytes, which "
        "is more than a node takes in this C++ library: unsynchronized_bound and "
        "unsynchronized_pmr show what that costs. Own words of a container "
        "and a key take 40 bytes of a map's node and 16 to 24 of the others': at 32 bytes those of "
        "a map are 48. std::pmr::monotonic_buffer_resource frees nothing and is not a supply for a "
        "program that changes.",
    .parameters = {{"container",
                    "what is built: an LRU cache is a list and an unordered_map",
                    {"list", "map", "unordered_map", "graph", "lru"},
                    {"list", "map", "unordered_map", "graph", "lru"}},
                   {"node_bytes",
                    "of a node, with the container's own words",
                    {32, 64, 256},
                    {32, 256},
                    "bytes",
                    8},
                   {"elements", "live at once, and replaced by the churn", {100'000}, {1'000}}},
    .quantities = {{"build", "ns/op", better::lower, "one element, and its share of the supply"},
                   {"walk", "ns/op", better::lower, "one element read, as built"},
                   {"churn", "ns/op", better::lower, "one element replaced or asked for"},
                   {"walk_churned", "ns/op", better::lower, "one element read after the churn"},
                   {"destroy", "ns/op", better::lower, "one element, and its share of the supply"},
                   {"peak_resident", "bytes", better::lower,
                    "the most anonymous memory of the process at once, but the experiment's own "
                    "tables: also what a supply took before the first element"},
                   processor_time},
    .subjects = subjects(),
    .baseline = "malloc@glibc",
    .repeats = 1,
    .dropped_repeats = 0,
    .answers = {{.quantity = "build", .subject = "unsynchronized", .over = "boost_fast_pool"},
                {.quantity = "walk_churned",
                 .subject = "unsynchronized",
                 .over = "boost_fast_pool"},
                {.quantity = "peak_resident",
                 .subject = "unsynchronized",
                 .over = "unsynchronized_bound"}},
    .work_parameters = {"container", "node_bytes"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
