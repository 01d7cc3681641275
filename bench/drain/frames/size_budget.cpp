#include "drain/frames/size_budget.hpp"

#include <algorithm>

namespace heapwise::bench {

void size_budget::remove(const budgeted_file& file) { std::erase(files_, &file); }

bool size_budget::make_room(std::uint64_t bytes) {
  if (left() >= bytes) return true;
  std::vector<budgeted_file*> rest = files_;
  while (left() < bytes && !rest.empty()) {
    const auto largest = std::ranges::max_element(rest, {}, &budgeted_file::bytes);
    if (!(*largest)->shrink()) rest.erase(largest);
  }
  return left() >= bytes;
}

bool size_budget::take(std::uint64_t bytes) {
  if (!make_room(bytes)) return false;
  used_ += bytes;
  return true;
}

} // namespace heapwise::bench
