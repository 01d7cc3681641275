// The names that a program changed: files, sockets, ports, keys. Another process that uses the same
// ones at the same time may disturb it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "line/json_line.hpp"

namespace heapwise::bench {

enum class deed { made, written, removed, replaced, bound, connected, locked, used };

class shared_names {
 public:
  /// Effects: notes what happens first to a name. exclusive: it fails if the name is there already.
  /// numbered: the name holds the number of a process of the program. What happens below a folder
  /// that the program made says no more than the folder does.
  void add(const std::string& name, deed how, bool exclusive, bool numbered);

  /// As `add`, of a folder.
  void add_folder(const std::string& name, bool numbered);

  /// Effects: what happens below this folder is not noted.
  void leave_out(const std::string& folder) { folders_.insert(folder); }

  /// Whether `add` would note nothing new.
  [[nodiscard]] bool knows(const std::string& name) const;

  /// Effects: from now on it is not known what the program changes. Keeps the first reason.
  void give_up(const char* reason);

  /// Writes an object.
  void write(json_line& line) const;

 private:
  struct entry {
    std::string name;
    deed how;
    bool exclusive;
    bool numbered;
  };

  static constexpr std::size_t most_fixed = 20;
  static constexpr std::size_t most_known = 100'000;
  static constexpr std::size_t most_own = 100; ///< that seem to be of one process only

  [[nodiscard]] bool is_below_own_folder(std::string_view name) const;

  std::vector<entry> entries_;
  std::unordered_set<std::string> known_;
  std::unordered_set<std::string> folders_;
  std::size_t fixed_ = 0;
  std::size_t own_ = 0;
  std::size_t more_ = 0;
  const char* missing_ = nullptr;
};

} // namespace heapwise::bench
