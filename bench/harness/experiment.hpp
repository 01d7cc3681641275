// What an experiment declares about itself. An experiment's file defines one `experiment`, its
// subjects as functions of a cell, and a main that hands both to the harness:
//
//     int main(int argc, char** argv) { return heapwise::bench::run(question, argc, argv); }
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "harness/cell.hpp"

namespace heapwise::bench {

/// All text is of static storage (literals, argv).
using value = std::variant<std::int64_t, double, std::string_view>;

struct parameter {
  std::string_view name;
  std::string_view meaning;
  std::vector<value> defaults; ///< the runner crosses these; a cell that sets none takes the first
  std::vector<value> smoke;    ///< the same under --smoke
  std::string_view unit = "";
  std::int64_t least = 1;                     ///< of a number that --set may give
  std::vector<std::string_view> choices = {}; ///< of a text; empty: those of defaults and smoke
};

enum class better { lower, higher };

struct quantity {
  std::string_view name;
  std::string_view unit;
  bench::better better = better::lower;
  std::string_view meaning = "";
  std::string_view restates = ""; ///< the quantity of which it is another form, as its inverse
};

/// For subjects with threads of their own, and for comparisons that other work on the machine must
/// not bias; sample::set_processor_time.
inline constexpr quantity processor_time{
    "processor_time", "ns/op", better::lower,
    "processor time of all threads of the process, those of the allocator included"};

/// `malloc` is expanded by the runner into one subject per preloadable allocator.
enum class subject_kind { inlined, malloc };

struct subject {
  std::string_view name;
  std::string_view title;
  void (*run)(cell&) = nullptr; ///< null: not available in this build
  std::string_view reason = ""; ///< then: how to get it
  subject_kind kind = subject_kind::inlined;
};

/// What is known beforehand of the hardware or of a subject; the laboratory judges it from the
/// measured intervals. At least one of the two bounds is set.
struct expectation {
  std::string_view says; ///< a short sentence: "false sharing costs at least twice"
  std::string_view quantity;
  std::string_view subject;
  std::string_view over = ""; ///< the ratio subject over this one is judged; "": the value itself
  std::vector<std::pair<std::string_view, value>> parameters = {}; ///< what is not named is free
  std::vector<std::pair<std::string_view, value>> over_parameters =
      {}; ///< where over's cell differs
  double at_least = 0.0;
  double at_most = std::numeric_limits<double>::infinity();
};

/// A comparison that answers the question. The page opens with what it shows, whatever that is.
struct answer {
  std::string_view quantity;
  std::string_view subject = ""; ///< "": the best in each cell, against the next
  std::string_view over = "";    ///< "": the subject itself, where the cell differs
  std::vector<std::pair<std::string_view, value>> parameters = {}; ///< what is not named is free
  std::vector<std::pair<std::string_view, value>> over_parameters =
      {}; ///< where over's cell differs
};

struct experiment {
  std::string_view id; ///< family/name, as the file
  std::string_view question;
  std::string_view isolates;
  std::string_view not_shown;
  std::vector<parameter> parameters;
  std::vector<quantity> quantities; ///< at most sample::most_quantities
  std::vector<subject> subjects;
  std::string_view baseline;
  int repeats = 10;
  int dropped_repeats = 1;
  std::vector<bench::expectation> expectations = {};
  std::vector<bench::answer> answers = {};
  /// Subjects that do less than the others: shown beside them and never ranked.
  std::vector<std::string_view> yardsticks = {"empty_loop"};
  /// Parameters whose values are different work: cells are not compared across them.
  std::vector<std::string_view> work_parameters = {};
};

/// Does what the command line asks for; the result is the exit code of the process:
/// 0 done or refused, 2 bad usage, 3 a check of the work failed.
int run(const experiment& question, int argc, char** argv);

} // namespace heapwise::bench
