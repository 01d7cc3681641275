// How the kernel tells of system calls, by seccomp(2): its structures, which old headers lack.
#pragma once

#include <sys/ioctl.h>

#include <cstdint>

namespace heapwise::bench {

/// struct seccomp_data
struct call_data {
  std::int32_t number;
  std::uint32_t architecture;
  std::uint64_t instruction;
  std::uint64_t arguments[6];
};

/// struct seccomp_notif
struct call_notice {
  std::uint64_t id;
  std::uint32_t thread; ///< 0 if it cannot be seen from here
  std::uint32_t flags;
  call_data data;
};

/// struct seccomp_notif_resp
struct call_answer {
  std::uint64_t id;
  std::int64_t value;
  std::int32_t error;
  std::uint32_t flags;
};

/// struct seccomp_notif_sizes
struct notice_sizes {
  std::uint16_t notice;
  std::uint16_t answer;
  std::uint16_t data;
};

constexpr unsigned long receive_notice = _IOWR('!', 0, call_notice);
constexpr unsigned long send_answer = _IOWR('!', 1, call_answer);
constexpr unsigned long is_notice_valid = _IOW('!', 2, std::uint64_t);
constexpr unsigned long set_listener_flags = _IOW('!', 4, std::uint64_t);

constexpr std::uint64_t listener_wakes_up_at_once = 1; ///< Linux 6.6

constexpr std::uint32_t answer_continue = 1;
constexpr unsigned set_mode_strict = 0;
constexpr unsigned set_mode_filter = 1;
constexpr unsigned get_notice_sizes = 3;
constexpr unsigned flag_new_listener = 1u << 3;
constexpr unsigned flag_wait_killable = 1u << 5; ///< Linux 5.19
constexpr std::uint32_t return_allow = 0x7fff0000u;
constexpr std::uint32_t return_trace = 0x7ff00000u;
constexpr std::uint32_t return_notice = 0x7fc00000u;

/// These have the same numbers on all processors.
constexpr int call_io_uring_setup = 425;
constexpr int call_openat2 = 437;

} // namespace heapwise::bench
