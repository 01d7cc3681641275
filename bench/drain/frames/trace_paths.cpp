#include "drain/frames/trace_paths.hpp"

namespace heapwise::bench {

trace_paths::trace_paths(const std::string& first) : stem_{first} {
  const std::string ending = ".hwt";
  if (!stem_.ends_with(ending)) return;
  stem_.resize(stem_.size() - ending.size());
  ending_ = ending;
}

std::string trace_paths::of_child(pid_t process) {
  const unsigned times = ++used_[process];
  const std::string again = times > 1 ? "-" + std::to_string(times) : "";
  return stem_ + "." + std::to_string(process) + again + ending_;
}

} // namespace heapwise::bench
