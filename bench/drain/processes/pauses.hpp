// When calls are recorded, and when not: SIGUSR1 pauses the recording, SIGUSR2 resumes it.
#pragma once

#include <cstdint>
#include <utility>

#include "trace/shared.hpp"

namespace heapwise::bench {

class pauses {
 public:
  /// From now on the signals are handled.
  static void handle_signals();

  /// Begins the recording, or a pause.
  pauses(shared_memory& memory, bool starts_paused);

  /// Pauses if that is wanted. Returns true if the recording is to be resumed: by resume(), after
  /// the events from before the pause were taken.
  [[nodiscard]] bool look();
  void resume();

  /// True once after each signal that pauses, also if the recording was paused already: what is
  /// known is then to be written to the files.
  [[nodiscard]] bool take_flush() noexcept { return std::exchange(flush_, false); }

  /// So far, with one that has not ended.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] double seconds() const;

 private:
  void pause();
  [[nodiscard]] bool is_paused() const noexcept { return paused_since_ != 0; }

  shared_memory& memory_;
  std::uint64_t count_ = 0;
  std::uint64_t paused_since_ = 0; ///< nanoseconds; 0 if it is not paused
  std::uint64_t paused_ns_ = 0;    ///< in pauses that have ended
  bool flush_ = false;
};

} // namespace heapwise::bench
