// How an experiment's own code was compiled, for experiments whose answer depends on it.
//
// Such an experiment has the parameter builds() and calls run(question, argc, argv, this_build).
// CMake compiles its file once more (heapwise_second_build), and the program of another build is
// started in place of this one.
#pragma once

#include <string_view>

#include "harness/experiment.hpp"

namespace heapwise::bench {

struct build {
  std::string_view name;
  std::string_view flags;    ///< "": those of the harness
  std::string_view compiler; ///< "": that of the harness
};

inline constexpr std::string_view build_name = "build";
inline constexpr std::string_view usual_build = "O2";

namespace {

#if defined(HEAPWISE_EXPERIMENT_BUILD) && defined(__clang__)
constexpr build this_build{HEAPWISE_EXPERIMENT_BUILD, HEAPWISE_EXPERIMENT_FLAGS,
                           "clang " __clang_version__};
#elif defined(HEAPWISE_EXPERIMENT_BUILD)
constexpr build this_build{HEAPWISE_EXPERIMENT_BUILD, HEAPWISE_EXPERIMENT_FLAGS, ""};
#else
constexpr build this_build{usual_build, "", ""};
#endif

} // namespace

inline parameter builds() {
  return {"build",
          "O2: the flags that users build with; O3_native: -O3 -march=native in addition; "
          "clang_O3_native: the same by clang, if it was there when Heapwise was built",
          {usual_build, "O3_native"},
          {usual_build},
          "",
          1,
          {usual_build, "O3_native", "clang_O3_native"}};
}

/// As run(question, argc, argv). If the setting of `build` is another than `mine`, the program of
/// that build takes the place of this process: it is in a folder of the build's name beside this
/// one. Without such a program the cell is refused.
int run(const experiment& question, int argc, char** argv, const build& mine);

} // namespace heapwise::bench
