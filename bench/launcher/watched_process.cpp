#include "launcher/watched_process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "kernel/clock.hpp"
#include "kernel/readiness.hpp"

namespace heapwise::bench {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

int open_ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

} // namespace

double watch_attached(const launch_options& options, memory_curve& memory) {
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, options.attached, 0));
  if (process < 0) return -1;
  pollfd watched[] = {{process, POLLIN, 0}, {open_ending_signals(), POLLIN, 0}};
  const std::uint64_t start = now_ns();
  const auto end =
      start + static_cast<std::uint64_t>(options.timeout_s * static_cast<double>(second_ns));
  memory.start(options.attached, start);
  while (now_ns() < end && watched[0].revents == 0 && watched[1].revents == 0) {
    const std::uint64_t now = now_ns();
    const std::uint64_t next = std::min(end, memory.due_ns());
    const std::uint64_t left = next > now ? next - now : 0;
    const bool known = wait_until_ready(watched, left);
    if (!known && kill(options.attached, 0) != 0) break;
    if (now_ns() >= memory.due_ns()) memory.look();
  }
  return static_cast<double>(now_ns() - start) * 1e-9;
}

} // namespace heapwise::bench
