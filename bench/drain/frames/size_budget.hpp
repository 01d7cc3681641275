// Bytes that all trace files of a recording may take together: never more at any moment.
#pragma once

#include <cstdint>
#include <vector>

namespace heapwise::bench {

/// A file that takes its bytes from a budget, and can give some of them back.
class budgeted_file {
 public:
  virtual ~budgeted_file() = default;
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
  /// Drops about half of what can be dropped. Returns false if nothing can.
  virtual bool shrink() = 0;
};

class size_budget {
 public:
  explicit size_budget(std::uint64_t limit) noexcept : limit_{limit} {}

  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
  [[nodiscard]] std::uint64_t left() const noexcept { return limit_ - used_; }

  void add(budgeted_file& file) { files_.push_back(&file); }
  void remove(const budgeted_file& file);

  /// Takes bytes for a file that is about to grow. If they are not there, the largest file shrinks
  /// first, which may be the one that asks. Returns false, and takes nothing, if no file can.
  [[nodiscard]] bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) noexcept { used_ -= bytes; }
  /// What a file was charged becomes what it is.
  void settle(std::uint64_t charged, std::uint64_t bytes) noexcept {
    used_ = used_ - charged + bytes;
  }

  /// Lets the largest files shrink until this many bytes are left. Returns whether they are.
  bool make_room(std::uint64_t bytes);

 private:
  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  std::vector<budgeted_file*> files_;
};

} // namespace heapwise::bench
