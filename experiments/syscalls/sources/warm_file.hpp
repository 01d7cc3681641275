// A file without a name whose pages are in the page cache and already written to where they belong.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "harness/cell.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/processes/descriptor.hpp"
#include "sources/words.hpp"

namespace syscalls {

using namespace heapwise::bench;

class warm_file {
 public:
  /// Random words, in the system's folder for temporary files; refuses where it cannot be written.
  warm_file(cell& the_cell, std::size_t bytes) : bytes_{bytes} {
    const mapped_array<word> content{bytes / sizeof(word)};
    for (word& each : content) each = the_cell.random().next();
    sum_ = sum_of(content.data(), bytes);
    heads_ = sum_of_heads(content.data(), bytes);
    std::string name = (std::filesystem::temp_directory_path() / "heapwise-XXXXXX").string();
    file_ = descriptor{mkstemp(name.data())};
    if (file_.valid()) unlink(name.c_str());
    if (!file_.valid() || !write_all(file_.number(), content.data(), bytes) ||
        fdatasync(file_.number()) != 0) {
      the_cell.refuse("file",
                      "no file of this size could be made in the folder for temporary files");
    }
  }

  [[nodiscard]] int number() const noexcept { return file_.number(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Of the words as first written.
  [[nodiscard]] word sum(touching touched = {}) const noexcept {
    return touched.heads ? heads_ : sum_;
  }

  /// What the file holds now, by pread; not for timed regions.
  [[nodiscard]] word read_sum(touching touched = {}) const {
    const mapped_array<word> content{bytes_ / sizeof(word)};
    const ssize_t got = pread(number(), content.data(), bytes_, 0);
    return got == static_cast<ssize_t>(bytes_) ? touched.sum(content.data(), bytes_) : 0;
  }

 private:
  std::size_t bytes_;
  word sum_ = 0;
  word heads_ = 0;
  descriptor file_;
};

} // namespace syscalls
