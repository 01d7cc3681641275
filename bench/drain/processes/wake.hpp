// Handlers of signals end the wait of the drain, also one that has not begun yet.
#pragma once

#include <atomic>

#include "trace/drain_alarm.hpp"

namespace heapwise::bench {

inline constinit std::atomic<drain_alarm*> alarm_of_signals{nullptr};

/// From now on the handlers call this one.
inline void wake_by_signals(drain_alarm& alarm) noexcept { alarm_of_signals = &alarm; }

/// In a handler.
inline void call_drain() noexcept {
  if (drain_alarm* const alarm = alarm_of_signals; alarm != nullptr) alarm->count_call();
}

} // namespace heapwise::bench
