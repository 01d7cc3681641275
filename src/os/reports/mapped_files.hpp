// The files that are mapped into this process, with the addresses at which they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwise::os {

/// A piece of a file. `base` is the address of the first byte of the file, so that an address of
/// code minus `base` is what the symbols of a library count from.
struct mapped_file {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uintptr_t offset = 0; // of the piece, in the file
  std::uintptr_t base = 0;
  std::string_view path; // until the next one is read

  /// Returns: what the symbols of the file call the address, as debuggers want it.
  [[nodiscard]] const void* offset_of(const void* address) const noexcept {
    return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(address) - base);
  }

  [[nodiscard]] bool holds(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - begin < end - begin;
  }
};

/// Reads /proc/self/maps without allocating. Safe in a handler of a signal.
class mapped_files {
 public:
  /// Effects: opens the list. Without it (no /proc, or a filter of system calls) there are no
  /// files.
  mapped_files() noexcept;
  ~mapped_files();
  mapped_files(const mapped_files&) = delete;
  mapped_files& operator=(const mapped_files&) = delete;

  /// Effects: reads the next piece of a file, by address. A path that is longer than 255 bytes is
  /// left out, and so is memory without a file. Returns: false after the last one.
  bool next(mapped_file& into) noexcept;

 private:
  [[nodiscard]] int take() noexcept;
  [[nodiscard]] std::uintptr_t take_number(unsigned radix) noexcept;
  [[nodiscard]] std::string_view take_path() noexcept;

  int descriptor_;
  std::size_t at_ = 0;
  std::size_t length_ = 0;
  int last_ = 0; // the character that ended a number
  std::uintptr_t base_ = 0;
  std::uintptr_t base_inode_ = 0;
  char path_[256];
  char buffer_[256]; // short, because the stack of a handler of signals may be small
};

} // namespace heapwise::os
