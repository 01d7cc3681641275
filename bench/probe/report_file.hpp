// The file to which a probe appends its lines.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "line/handed_file.hpp"

namespace heapwise::bench {

class report_file {
 public:
  /// A program that starts others for ever must not fill the disk. The launcher sees the size.
  static constexpr off_t most_bytes = 64 << 20;

  /// Effects: remembers where to write; programs change their environment later. False without a
  /// place to write. To be called before the process has threads.
  bool remember(const handed_variables& variables) noexcept {
    const char* path = std::getenv(variables.path);
    if (path == nullptr || path[0] == '\0' || std::strlen(path) >= sizeof path_) return false;
    std::strcpy(path_, path);
    const char* text = std::getenv(variables.descriptor);
    handed_ = text == nullptr ? handed_file{} : handed_file::parse(text);
    return true;
  }

  [[nodiscard]] bool remembered() const noexcept { return path_[0] != '\0'; }

  /// Effects: appends `line` with one write, so that lines of different processes do not mix; keeps
  /// errno. A line that cannot be written is lost.
  /// Thread safety: safe; async-signal-safe, and safe between vfork and exec.
  void append(std::string_view line) const noexcept {
    const int saved_errno = errno;
    if (handed_.descriptor >= 0 && handed_file::of(handed_.descriptor) == handed_) {
      put(handed_.descriptor, line);
    } else if (remembered()) {
      const int file = open(path_, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
      if (file >= 0) {
        put(file, line);
        close(file);
      }
    }
    errno = saved_errno;
  }

 private:
  /// A sandbox may refuse prlimit64, by which the C library asks.
  static bool find_limit(struct rlimit& limit) noexcept {
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) return true;
#ifdef SYS_getrlimit
    return syscall(SYS_getrlimit, RLIMIT_FSIZE, &limit) == 0;
#else
    return false;
#endif
  }

  /// A write beyond the limit that a process has for its files would end it with SIGXFSZ.
  static bool has_space(int file, std::size_t bytes) noexcept {
    struct stat status{};
    struct rlimit limit{};
    return fstat(file, &status) == 0 && status.st_size < most_bytes && find_limit(limit) &&
           static_cast<rlim_t>(status.st_size) + bytes <= limit.rlim_cur;
  }

  static void put(int file, std::string_view line) noexcept {
    if (!has_space(file, line.size())) return;
    // A line that is cut or lost is seen by its reader: it finds no whole line for this process.
    [[maybe_unused]] const auto written = write(file, line.data(), line.size());
  }

  char path_[PATH_MAX] = {};
  handed_file handed_;
};

/// The file of this probe.
inline constinit report_file report;

} // namespace heapwise::bench
