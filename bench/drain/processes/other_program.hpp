// The program that a process became and in which the recorder was not.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "trace/exec_note.hpp"
#include "trace/image_log.hpp"

namespace heapwise::bench {

class other_program {
 public:
  /// Asks the kernel which program the process is now. Short ones are seen by their notes only.
  /// `images`: how many programs of the process were recorded before.
  void look(pid_t process, std::uint32_t images);

  /// At the end of the process. `next` is its note.
  void decide(const image_log& images, const exec_note& next);

  /// After decide(): whether there was one.
  [[nodiscard]] bool was_seen() const noexcept { return was_seen_; }
  /// As JSON: the program, and what became of the preloaded libraries if that is known. null if
  /// there was none.
  [[nodiscard]] std::string json() const;

 private:
  std::string running_; ///< as the kernel last said
  std::uint32_t images_then_ = 0;
  std::string program_;
  std::string preload_;
  bool was_seen_ = false;
};

/// The same as JSON, of a child that was started and has no trace.
[[nodiscard]] std::string other_program_json(const exec_note& note);

} // namespace heapwise::bench
