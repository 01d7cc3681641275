// Reads which system calls the program is about to make, and which names they change.
#pragma once

#include <sys/types.h>

#include "launcher/calls/caller.hpp"
#include "launcher/calls/notices.hpp"
#include "launcher/calls/shared_names.hpp"

namespace heapwise::bench {

class call_watch {
 public:
  call_watch() = default;
  call_watch(const call_watch&) = delete;
  call_watch& operator=(const call_watch&) = delete;

  /// Effects: makes the socket by which the child hands over its listener. own_folder: names in it
  /// are left out; nullptr: there is no such folder.
  void prepare(const char* own_folder);

  /// In the child, after which it may do nothing but exec: installs the filter and hands over its
  /// listener. Of the program it is known whether it may lose rights. Returns: why there is no
  /// listener; nullptr if there is one.
  [[nodiscard]] const char* enter(bool loses_rights) const;

  /// In the launcher, when the child has become the program. missing: what `enter` returned.
  void begin(const char* missing);

  /// Readable when a call waits for its answer; -1 if nothing is watched.
  [[nodiscard]] int descriptor() const { return listener_; }

  /// Effects: reads one call, notes what it changes, and lets it go on. at_end: nobody is left who
  /// could call.
  void answer(bool at_end);

  /// Writes an object, or null if nobody asked.
  void write(json_line& line) const;

 private:
  void note(const caller& from, const call_data& call);
  void note_paths(const caller& from, const call_data& call);
  void note_open(const caller& from, int folder, std::uint64_t name, std::uint64_t flags);
  void note_entry(const caller& from, int folder, std::uint64_t name, deed how);
  void note_folder(const caller& from, int folder, std::uint64_t name);
  void note_rename(const caller& from, int old_folder, std::uint64_t old_name, int new_folder,
                   std::uint64_t new_name);
  void note_address(const caller& from, std::uint64_t address, std::uint64_t size, deed how);
  void note_filter(const caller& from, const call_data& call);
  void add(const caller& from, const found_file& file, deed how, bool exclusive);
  std::optional<std::string> text(const caller& from, std::uint64_t address);
  [[nodiscard]] bool is_valid(std::uint64_t id) const;

  bool asked_ = false;
  int listener_ = -1;
  int ends_[2] = {-1, -1};
  shared_names names_;
};

} // namespace heapwise::bench
