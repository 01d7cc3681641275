// A thread that waits in a system call: its memory, and the files that its names lead to.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapwise::bench {

/// Where a name leads, links followed.
struct found_file {
  std::string path; ///< as the launcher sees it
  bool is_there = false;
  bool may_be_written = true;
  struct stat status{};
};

class caller {
 public:
  /// launcher: the number of this process.
  caller(pid_t thread, pid_t launcher);

  /// Returns: whether all `size` bytes could be read.
  [[nodiscard]] bool read(std::uint64_t address, void* into, std::size_t size) const;

  /// Returns: a text that ends with a NUL byte; nothing if it cannot be read.
  [[nodiscard]] std::optional<std::string> text_at(std::uint64_t address) const;

  /// Where `name` leads below the descriptor `folder` of the process. Nothing if a call with it
  /// fails, or if only this process sees the file: pipes, descriptors, its own part of /proc, file
  /// systems in memory that are mounted for it alone. `is_there` is false if only the last part of
  /// the name is missing.
  [[nodiscard]] std::optional<found_file> find(int folder, std::string_view name) const;

  /// The same of the name itself: a link at its end is not followed.
  [[nodiscard]] std::optional<found_file> find_entry(int folder, std::string_view name) const;

  /// The file of an open descriptor.
  [[nodiscard]] std::optional<found_file> find_open(int descriptor) const;

  /// Whether `name` holds the number of this process or of one that it descends from, as they see
  /// their numbers.
  [[nodiscard]] bool is_numbered(std::string_view name) const;

  /// Whether it has a namespace of another kind than the launcher: "mnt", "net", "ipc".
  [[nodiscard]] bool is_apart(const char* space) const;

 private:
  [[nodiscard]] int open_base(int folder, std::string_view name) const;
  [[nodiscard]] int open_below(int base, const std::string& name, int flags) const;
  [[nodiscard]] std::optional<found_file> describe(int file) const;
  [[nodiscard]] bool has_own_mounts() const;
  [[nodiscard]] std::string without_self(std::string_view name) const;
  [[nodiscard]] std::string place_of(const char* part) const;

  [[nodiscard]] const std::vector<long>& numbers() const;

  pid_t thread_;
  pid_t launcher_;
  mutable std::vector<long> numbers_; ///< of all levels; empty until they are needed
  mutable std::optional<bool> has_own_mounts_;
};

} // namespace heapwise::bench
