#include "launcher/start/probe_lines.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "probe/report_file.hpp"

namespace heapwise::bench {
namespace {

constexpr std::size_t most_kinds = 1000;

/// A file in memory, for as long as this lives.
class mapped_file {
 public:
  explicit mapped_file(int file) {
    struct stat status{};
    if (fstat(file, &status) != 0 || status.st_size == 0) return;
    size_ = static_cast<std::size_t>(status.st_size);
    void* mapping = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    text_ = mapping == MAP_FAILED ? nullptr : static_cast<const char*>(mapping);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() {
    if (text_ != nullptr) munmap(const_cast<char*>(text_), size_);
  }

  [[nodiscard]] std::string_view text() const {
    return text_ == nullptr ? std::string_view{} : std::string_view{text_, size_};
  }

 private:
  const char* text_ = nullptr;
  std::size_t size_ = 0;
};

/// A line of the probe: {"pid":PID,"EVENT":...}.
struct event_line {
  int pid = 0;
  std::string_view event;
  std::string_view rest; ///< from the event on, with the last bracket

  static bool read(std::string_view line, event_line& into) {
    constexpr std::string_view head = "{\"pid\":";
    if (!line.starts_with(head) || !line.ends_with('}')) return false;
    const auto [end, error] =
        std::from_chars(line.data() + head.size(), line.data() + line.size(), into.pid);
    if (error != std::errc{}) return false;
    into.rest = line.substr(static_cast<std::size_t>(end - line.data()));
    if (!into.rest.starts_with(",\"")) return false;
    into.rest.remove_prefix(1);
    into.event = into.rest.substr(1, into.rest.find('"', 1) - 1);
    return true;
  }

  /// The members of the object that `exec`, `spawn` and `lost` carry: "target":...,"preload":...
  [[nodiscard]] std::string_view members() const {
    const std::size_t begin = rest.find('{') + 1;
    return begin == 0 || rest.size() < begin + 2 ? std::string_view{}
                                                 : rest.substr(begin, rest.size() - begin - 2);
  }
};

/// Texts in the order in which they came first, with how often they came.
class counted_texts {
 public:
  struct entry {
    int pid;
    std::string_view text;
    std::size_t count;
  };

  /// False if it is new and there are `most` already.
  bool add(int pid, std::string_view text, std::size_t most) {
    const auto [known, is_new] = places_.try_emplace(text, entries_.size());
    if (!is_new) {
      ++entries_[known->second].count;
      return true;
    }
    if (entries_.size() == most) {
      places_.erase(known);
      return false;
    }
    entries_.push_back({pid, text, 1});
    return true;
  }

  [[nodiscard]] const std::vector<entry>& entries() const { return entries_; }

 private:
  std::unordered_map<std::string_view, std::size_t> places_;
  std::vector<entry> entries_;
};

/// The probe ends each line about a process with this.
constexpr std::string_view single = ",\"count\":1}";

void append_line(std::string& text, const counted_texts::entry& line) {
  text += "{\"pid\":" + std::to_string(line.pid) + ',';
  text += line.text;
  text += ",\"count\":" + std::to_string(line.count) + "}\n";
}

} // namespace

class probe_lines::reader {
 public:
  explicit reader(probe_lines& result) : result_{result} {}

  void read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      event_line line;
      if (event_line::read(text.substr(0, end), line)) take(line);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    for (const auto& [pid, members] : silent_) lose(members);
    for (const auto& each : lost_.entries()) keep(each);
  }

  [[nodiscard]] std::string text() const {
    std::string all;
    for (const auto& each : processes_.entries()) append_line(all, each);
    return all;
  }

 private:
  void take(const event_line& line) {
    if (line.event == "exe") {
      ++result_.processes_;
      silent_.erase(line.pid);
      started_.insert(line.pid);
      if (!processes_.add(line.pid, without_count(line.rest), most_kinds)) ++result_.omitted_;
    } else if (line.event == "exec") {
      // What the process became before now was another program, or it would have said so.
      forget(line.pid);
      ++result_.execs_;
      silent_.emplace(line.pid, line.members());
    } else if (line.event == "failed") {
      result_.execs_ -= silent_.erase(line.pid);
    } else if (line.event == "spawn") {
      // The child may have written its line before its parent has.
      ++result_.execs_;
      if (!started_.contains(line.pid)) silent_.insert_or_assign(line.pid, line.members());
    } else if (line.event == "lost") {
      ++result_.execs_;
      lose(line.members());
    }
  }

  static std::string_view without_count(std::string_view text) {
    text.remove_suffix(text.ends_with(single) ? single.size() : 1);
    return text;
  }

  void forget(int pid) {
    const auto entry = silent_.find(pid);
    if (entry == silent_.end()) return;
    lose(entry->second);
    silent_.erase(entry);
  }

  void lose(std::string_view members) {
    ++result_.lost_;
    lost_.add(0, members, most_lost);
  }

  void keep(const counted_texts::entry& each) {
    lost_exec& kept = result_.lost_execs_[result_.lost_kinds_];
    if (each.text.size() >= sizeof kept.text) return;
    std::memcpy(kept.text, each.text.data(), each.text.size());
    kept.count = each.count;
    ++result_.lost_kinds_;
  }

  probe_lines& result_;
  counted_texts processes_;
  counted_texts lost_;
  std::unordered_map<int, std::string_view> silent_; ///< execs without a line of the new program
  std::unordered_set<int> started_;
};

probe_lines probe_lines::compact(const char* path) {
  probe_lines result;
  const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return result;
  std::string text;
  {
    const mapped_file lines{file};
    reader all{result};
    all.read(lines.text());
    text = all.text();
    result.cut_ = lines.text().size() >= static_cast<std::size_t>(report_file::most_bytes);
  }
  result.known_ = ftruncate(file, 0) == 0 &&
                  ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return result;
}

void probe_lines::write(json_line& line) const {
  if (!known_) {
    line.null();
    return;
  }
  line.open('{').field("processes", processes_).field("omitted", omitted_);
  line.field("cut", cut_).field("execs", execs_).field("lost_execs", lost_);
  line.key("lost").open('[');
  for (std::size_t i = 0; i < lost_kinds_; ++i) {
    line.open('{').members(lost_execs_[i].text).field("count", lost_execs_[i].count).close('}');
  }
  line.close(']').close('}');
}

} // namespace heapwise::bench
