#include "launcher/calls/shared_names.hpp"

namespace heapwise::bench {
namespace {

constexpr std::size_t longest = 500; ///< bytes of a name that are told

const char* word_of(deed how) {
  switch (how) {
    case deed::made:
      return "made";
    case deed::written:
      return "written";
    case deed::removed:
      return "removed";
    case deed::replaced:
      return "replaced";
    case deed::bound:
      return "bound";
    case deed::connected:
      return "connected";
    case deed::locked:
      return "locked";
    default:
      return "used";
  }
}

} // namespace

void shared_names::add(const std::string& name, deed how, bool exclusive, bool numbered) {
  if (knows(name)) return;
  if (known_.size() == most_known) { // from here on a name may be counted more than once
    ++more_;
    return;
  }
  known_.insert(name);
  const bool is_own = exclusive || numbered;
  std::size_t& count = is_own ? own_ : fixed_;
  if (count == (is_own ? most_own : most_fixed)) {
    ++more_;
    return;
  }
  ++count;
  entries_.push_back({name, how, exclusive, numbered});
}

void shared_names::add_folder(const std::string& name, bool numbered) {
  const std::size_t before = known_.size();
  add(name, deed::made, true, numbered);
  if (known_.size() != before) folders_.insert(name);
}

bool shared_names::knows(const std::string& name) const {
  return known_.contains(name) || is_below_own_folder(name);
}

void shared_names::give_up(const char* reason) {
  if (missing_ == nullptr) missing_ = reason;
}

bool shared_names::is_below_own_folder(std::string_view name) const {
  if (folders_.empty()) return false;
  for (std::size_t at = name.find('/', 1); at != std::string_view::npos;
       at = name.find('/', at + 1)) {
    if (folders_.contains(std::string{name.substr(0, at)})) return true;
  }
  return false;
}

void shared_names::write(json_line& line) const {
  line.open('{').key("missing");
  missing_ == nullptr ? line.null() : line.value(missing_);
  line.key("names").open('[');
  for (const entry& each : entries_) {
    line.open('{')
        .field("name", std::string_view{each.name}.substr(0, longest))
        .field("how", word_of(each.how));
    line.field("exclusive", each.exclusive).field("numbered", each.numbered).close('}');
  }
  line.close(']').field("more", more_).close('}');
}

} // namespace heapwise::bench
