#include "drain/processes/pauses.hpp"

#include <signal.h>

#include "drain/processes/wake.hpp"
#include "kernel/clock.hpp"

namespace heapwise::bench {

namespace {

volatile sig_atomic_t last_signal = 0;
extern "C" void note_pause_signal(int signal) {
  last_signal = signal;
  call_drain();
}

} // namespace

void pauses::handle_signals() {
  struct sigaction note{};
  note.sa_handler = note_pause_signal;
  note.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &note, nullptr);
  sigaction(SIGUSR2, &note, nullptr);
}

pauses::pauses(shared_memory& memory, bool starts_paused) : memory_{memory} {
  if (starts_paused) {
    pause();
  } else {
    memory_.recording.store(recording_state::on, std::memory_order_relaxed);
  }
}

bool pauses::look() {
  const int signal = last_signal;
  if (signal == 0) return false;
  last_signal = 0;
  if (signal == SIGUSR2) return is_paused();
  if (!is_paused()) pause();
  flush_ = true;
  return false;
}

void pauses::pause() {
  ++count_;
  paused_since_ = now_ns();
  memory_.recording.store(recording_state::paused, std::memory_order_relaxed);
}

void pauses::resume() {
  paused_ns_ += now_ns() - paused_since_;
  paused_since_ = 0;
  memory_.recording.store(recording_state::on, std::memory_order_relaxed);
}

double pauses::seconds() const {
  const std::uint64_t open = is_paused() ? now_ns() - paused_since_ : 0;
  return static_cast<double>(paused_ns_ + open) * 1e-9;
}

} // namespace heapwise::bench
