#include "harness/memory/resident.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace heapwise::bench {
namespace {

constexpr std::uint64_t page_bytes = 4096; // a floor for ratios, not the system's page

/// The number of kB behind `label` in a file of /proc; 0 if there is none.
std::uint64_t kilobytes(const char* path, const char* label) noexcept {
  char text[4096];
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  const char* line = std::strstr(text, label);
  return line != nullptr ? std::strtoull(line + std::strlen(label), nullptr, 10) : 0;
}

constexpr const char* walked_pages = "/proc/self/smaps_rollup";
constexpr const char* counters = "/proc/self/status";

std::uint64_t resident_bytes() noexcept {
  const std::uint64_t walked = kilobytes(walked_pages, "\nRss:");
  return 1024 * (walked != 0 ? walked : kilobytes(counters, "\nVmRSS:"));
}

std::uint64_t anonymous_bytes() noexcept {
  const std::uint64_t walked = kilobytes(walked_pages, "\nAnonymous:");
  return 1024 * (walked != 0 ? walked : kilobytes(counters, "\nRssAnon:"));
}

} // namespace

resident_meter::resident_meter() noexcept : start_bytes_{resident_bytes()} { restart_peak(); }

resident_meter::resident_meter(std::uint64_t table_bytes) noexcept
    : start_bytes_{resident_bytes() - anonymous_bytes() + table_bytes} {
  restart_peak();
}

std::uint64_t resident_meter::now() noexcept {
  const std::uint64_t bytes = above_start(resident_bytes());
  seen_ = std::max(seen_, bytes);
  return bytes;
}

std::uint64_t resident_meter::peak() noexcept {
  return std::max(seen_, above_start(1024 * kilobytes(counters, "\nVmHWM:")));
}

void resident_meter::restart_peak() noexcept {
  seen_ = 0;
  constexpr char forget_the_peak = '5'; // proc(5), clear_refs
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const auto written = write(file, &forget_the_peak, 1);
  close(file);
}

std::uint64_t resident_meter::above_start(std::uint64_t bytes) const noexcept {
  return std::max(page_bytes, bytes - std::min(bytes, start_bytes_));
}

} // namespace heapwise::bench
