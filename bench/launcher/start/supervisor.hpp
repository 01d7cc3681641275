// Watches over the child until its whole tree is gone.
#pragma once

#include <signal.h>

#include <sys/resource.h>

#include <cstdint>

#include "launcher/memory/memory_curve.hpp"
#include "launcher/start/child.hpp"
#include "launcher/start/starter.hpp"
#include "launcher/start/stream.hpp"

namespace heapwise::bench {

struct outcome {
  std::uint64_t end_ns = 0;
  int status = 0; ///< of waitpid
  bool timed_out = false;
  int stop_signal = 0;   ///< that stopped the program, which was ended then; 0: none
  int lingering = 0;     ///< processes killed after the program had ended, and collected by us
  double late_s = 0;     ///< from the program's end to that of the last process it left
  double late_cpu_s = 0; ///< used by the processes that it left, in all their time
  std::uint64_t late_output_bytes = 0; ///< that came after the program's end
  const char* stopped_by = nullptr;    ///< a signal's name, or "parent"
  std::int64_t peak_rss_bytes = 0;
  double user_s = 0;
  double system_s = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
};

class supervisor {
 public:
  /// Before the child starts: the signals that end a run are blocked and read from a descriptor.
  supervisor();

  /// Drains, times out, reaps, and looks at the memory while the child runs. Tells `beside` when
  /// the child has ended, and kills the child when the stream of `beside` ends. Returns when no
  /// process of the child's tree is left.
  /// Answers `calls` in between.
  outcome watch(const started_child& child, double timeout_s, const starter& beside,
                call_watch& calls, output_stream& out, output_stream& err, memory_curve& memory);

 private:
  enum class phase { running, asked_to_end, killed, leftovers };

  void poll_once(call_watch& calls, output_stream& out, output_stream& err, memory_curve& memory);
  void take_signals();
  void take_signal(int signal);
  void drain(int& pipe, output_stream& into);
  void reap();
  void add(const rusage& usage);
  void add_late(const rusage& usage);
  void ask_to_end();
  void end_at_once();
  void enter(phase next, std::uint64_t deadline_ns);
  void on_stop(int signal);
  void on_deadline();
  void kill_leftovers();
  [[nodiscard]] bool over() const;
  [[nodiscard]] bool ended() const { return outcome_.end_ns != 0; }

  started_child child_;
  starter beside_{-1};
  outcome outcome_;
  phase phase_ = phase::running;
  std::uint64_t deadline_ns_ = UINT64_MAX;
  int kills_ = 0;          ///< rounds of killing what the program left
  bool tree_gone_ = false; ///< it and all its descendants
  sigset_t waited_for_{};  ///< signals that are blocked and taken one by one
  int signals_ = -1;
  int parent_ = -1;
  int partner_ = -1; ///< the socket of `beside_` while it is watched
};

} // namespace heapwise::bench
