// Binary trees, many short-lived ones beside one that stays: a program that does little else than
// allocate, in the usual proportions of that benchmark.
#include <new>

#include "sources/quantities.hpp"
#include "sources/sources.hpp"

namespace {

using namespace heapwise::bench;

struct node {
  node* left;
  node* right;
};

constexpr std::uint64_t nodes_of(unsigned depth) { return (std::uint64_t{2} << depth) - 1; }

template <class Source>
class forest {
 public:
  /// Nodes of all trees that were ever grown, each counted by walking its tree.
  std::uint64_t grow_and_fell(unsigned depth) {
    constexpr unsigned least_depth = 4;
    std::uint64_t counted = visit(depth + 1);
    node* stays = grow(depth);
    for (unsigned each = least_depth; each <= depth; each += 2) {
      const std::uint64_t trees = std::uint64_t{1} << (depth - each + least_depth);
      for (std::uint64_t i = 0; i < trees; ++i) counted += visit(each);
    }
    counted += count(stays);
    fell(stays);
    return counted;
  }

  /// What grow_and_fell must return.
  static std::uint64_t expected(unsigned depth) {
    std::uint64_t nodes = nodes_of(depth + 1) + nodes_of(depth);
    for (unsigned each = 4; each <= depth; each += 2) {
      nodes += (std::uint64_t{1} << (depth - each + 4)) * nodes_of(each);
    }
    return nodes;
  }

 private:
  std::uint64_t visit(unsigned depth) {
    node* top = grow(depth);
    const std::uint64_t counted = count(top);
    fell(top);
    return counted;
  }

  node* grow(unsigned depth) {
    auto* top = ::new (source_.allocate(sizeof(node))) node{nullptr, nullptr};
    if (depth == 0) return top;
    top->left = grow(depth - 1);
    top->right = grow(depth - 1);
    return top;
  }

  static std::uint64_t count(const node* top) {
    return top->left == nullptr ? 1 : 1 + count(top->left) + count(top->right);
  }

  void fell(node* top) {
    if (top->left != nullptr) {
      fell(top->left);
      fell(top->right);
    }
    source_.deallocate(top, sizeof(node));
  }

  Source source_;
};

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const auto depth = static_cast<unsigned>(the_cell.integer("depth"));
    const std::uint64_t expected = forest<Source>::expected(depth);
    resident_meter meter;
    the_cell.each_repeat([&](sample& the_sample) {
      forest<Source> trees;
      std::uint64_t counted = 0;
      meter.restart_peak();
      const std::uint64_t elapsed_ns =
          the_sample.measure(expected, [&] { counted = trees.grow_and_fell(depth); });
      the_sample.set("wall", static_cast<double>(elapsed_ns) * 1e-9);
      the_sample.set_processor_time(expected);
      heaps::set_peak(the_sample, meter);
      the_cell.check("work", counted == expected, "{} nodes of {}", counted, expected);
      the_cell.expect_calls(expected);
    });
  }
};

const experiment question{
    .id = "heap/trees",
    .question = "How long does a program take that grows, walks and fells binary trees?",
    .isolates =
        "Blocks of 16 bytes on one thread, taken and freed in the order of the trees, with the "
        "program's own use of them: what the layout of blocks does to a walk shows, too.",
    .not_shown =
        "Several threads, and a program whose blocks differ in size. One region, from a cold heap: "
        "the page faults of first use are in it, as they are in a program.",
    .parameters = {{"depth", "of the largest tree that stays", {18}, {10}, "", 4}},
    .quantities = {{"wall", "s", better::lower, "all trees"}, processor_time, heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 1,
    .dropped_repeats = 0,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
