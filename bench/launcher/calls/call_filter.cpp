#include "launcher/calls/call_filter.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <iterator>

#include "launcher/calls/notices.hpp"

namespace heapwise::bench {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t native_architecture = 0;
#endif

constexpr std::uint32_t any = 0xffffffff;
constexpr std::uint32_t writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
constexpr int every_call = -1;

/// Calls to be told of: all, or those with one of the bits in the lower half of an argument.
struct rule {
  int number;
  int argument = every_call;
  std::uint32_t bits = any;
};

constexpr rule rules[] = {
#ifdef SYS_open
    {SYS_open, 1, writes},
    {SYS_creat},
    {SYS_rename},
    {SYS_unlink},
    {SYS_mkdir},
    {SYS_rmdir},
    {SYS_link},
    {SYS_symlink},
    {SYS_mknod},
#endif
    {SYS_openat, 2, writes},
    {call_openat2},
#ifdef SYS_renameat
    {SYS_renameat},
#endif
    {SYS_renameat2},
    {SYS_unlinkat},
    {SYS_mkdirat},
    {SYS_linkat},
    {SYS_symlinkat},
    {SYS_mknodat},
    {SYS_truncate},
    {SYS_flock, 1, LOCK_EX},
    {SYS_bind},
    {SYS_connect},
    {SYS_shmget, 0},
    {SYS_semget, 0},
    {SYS_msgget, 0},
    {SYS_mq_open, 1, writes},
    {SYS_mq_unlink},
    {call_io_uring_setup},
    {SYS_seccomp},
    {SYS_prctl, 0, PR_SET_SECCOMP},
};

/// Of another architecture only these are told of: brk, which every C library calls first, and the
/// ends of a process, on 32-bit x86 and ARM.
constexpr std::uint32_t foreign_calls[] = {45, 1, 248, 252};

class filter_code {
 public:
  filter_code() {
    load(offsetof(call_data, architecture));
    constexpr auto foreign = static_cast<std::uint8_t>(2 + 2 * std::size(foreign_calls));
    add(BPF_JMP | BPF_JEQ | BPF_K, native_architecture, foreign, 0);
    load(offsetof(call_data, number));
    for (const std::uint32_t number : foreign_calls) tell_if_equal(number);
    end(return_allow);
    load(offsetof(call_data, number));
#if defined(__x86_64__)
    add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); // of the x32 architecture
    end(return_notice);
#endif
    for (const rule& each : rules) add_rule(each);
    end(return_allow);
  }

  [[nodiscard]] sock_fprog program() { return {static_cast<unsigned short>(size_), instructions_}; }

 private:
  void add_rule(const rule& each) {
    if (each.argument == every_call) {
      tell_if_equal(static_cast<std::uint32_t>(each.number));
      return;
    }
    constexpr std::size_t low_half = std::endian::native == std::endian::little ? 0 : 4;
    const bool by_value = each.number == SYS_prctl;
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(each.number), 0, 4);
    load(offsetof(call_data, arguments) + 8 * static_cast<std::size_t>(each.argument) + low_half);
    add(BPF_JMP | (by_value ? BPF_JEQ : BPF_JSET) | BPF_K, each.bits, 0, 1);
    end(return_notice);
    end(return_allow);
  }

  void tell_if_equal(std::uint32_t number) {
    add(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    end(return_notice);
  }

  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset), 0, 0);
  }

  void end(std::uint32_t action) { add(BPF_RET | BPF_K, action, 0, 0); }

  void add(int code, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    instructions_[size_++] = {static_cast<std::uint16_t>(code), if_true, if_false, value};
  }

  sock_filter instructions_[256] = {};
  std::size_t size_ = 0;
};

/// Whether our structures hold what this kernel writes.
bool has_our_sizes() {
  notice_sizes sizes{};
  return syscall(SYS_seccomp, get_notice_sizes, 0, &sizes) == 0 &&
         sizes.notice == sizeof(call_notice) && sizes.answer == sizeof(call_answer);
}

const char* reason_of(int error) {
  switch (error) {
    case EBUSY:
      return "another program watches the system calls already";
    case EACCES:
      return "the program may gain rights, and the user may not watch such programs";
    default:
      return "the kernel cannot tell of system calls (Linux 5.19 can)";
  }
}

} // namespace

bool may_lose_rights(const char* program) {
  struct stat file{};
  if (stat(program, &file) != 0) return false;
  const bool has_capabilities = getxattr(program, "security.capability", nullptr, 0) > 0;
  return (file.st_mode & (S_ISUID | S_ISGID)) == 0 && !has_capabilities;
}

call_filter install_call_filter(bool loses_rights) {
  if (native_architecture == 0) return {-1, "not known for this processor"};
  if (!has_our_sizes()) return {-1, reason_of(EINVAL)};
  static filter_code code; // not on the stack of a process that shares it
  sock_fprog program = code.program();
  const auto install = [&program] {
    return static_cast<int>(
        syscall(SYS_seccomp, set_mode_filter, flag_new_listener | flag_wait_killable, &program));
  };
  int listener = install();
  if (listener < 0 && errno == EACCES && loses_rights &&
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
    listener = install();
  }
  return {listener, listener < 0 ? reason_of(errno) : nullptr};
}

} // namespace heapwise::bench
