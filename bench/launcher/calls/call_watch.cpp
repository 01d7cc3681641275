#include "launcher/calls/call_watch.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "launcher/calls/call_filter.hpp"

namespace heapwise::bench {
namespace {

constexpr const char* unreadable = "the memory of a process cannot be read";
constexpr const char* other_code = "it runs programs of another architecture";

#if defined(__x86_64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t native_architecture = AUDIT_ARCH_AARCH64;
#endif

/// Servers that only take notes, or only answer.
constexpr std::string_view harmless_servers[] = {
    "/dev/log", "/run/nscd/socket", "/run/systemd/journal/dev-log", "/run/systemd/journal/socket",
    "/run/systemd/journal/stdout"};

/// Devices that keep nothing: null, zero, full, random; terminals.
bool keeps_nothing(const struct stat& file) {
  if (!S_ISCHR(file.st_mode)) return false;
  const unsigned kind = major(file.st_rdev);
  return kind == 1 || kind == 4 || kind == 5 || (kind >= 136 && kind <= 143);
}

/// A message of one byte, with an open descriptor for the process that receives it (unix(7)).
class descriptor_message {
 public:
  descriptor_message() {
    message_.msg_iov = &data_;
    message_.msg_iovlen = 1;
    message_.msg_control = control_;
    message_.msg_controllen = sizeof control_;
  }
  descriptor_message(const descriptor_message&) = delete;
  descriptor_message& operator=(const descriptor_message&) = delete;

  /// Returns: whether it was sent.
  bool send(int socket, int descriptor) {
    cmsghdr* header = CMSG_FIRSTHDR(&message_);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(socket, &message_, MSG_NOSIGNAL) == 1;
  }

  /// Returns: the descriptor; -1 if no message waits.
  int receive(int socket) {
    int descriptor = -1;
    if (recvmsg(socket, &message_, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1) return descriptor;
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message_)) {
      std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    }
    return descriptor;
  }

 private:
  char byte_ = 'd';
  iovec data_{&byte_, 1};
  alignas(cmsghdr) char control_[CMSG_SPACE(sizeof(int))] = {};
  msghdr message_{};
};

int lower_half(std::uint64_t argument) {
  return static_cast<int>(static_cast<std::uint32_t>(argument));
}

/// Whether a filter of the program's own asks somebody else about calls: then ours goes first, and
/// the program would not be asked.
bool asks_somebody(const sock_filter* instructions, std::size_t size) {
  return std::any_of(instructions, instructions + size, [](const sock_filter& each) {
    const std::uint32_t action = each.k & 0x7fff0000u;
    return each.code == (BPF_RET | BPF_K) && (action == return_trace || action == return_notice);
  });
}

} // namespace

void call_watch::prepare(const char* own_folder) {
  asked_ = true;
  char* path = own_folder == nullptr ? nullptr : realpath(own_folder, nullptr);
  if (path != nullptr) names_.leave_out(path);
  std::free(path);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_) != 0) ends_[0] = ends_[1] = -1;
}

const char* call_watch::enter(bool loses_rights) const {
  if (ends_[1] < 0) return "there is no socket";
  const call_filter filter = install_call_filter(loses_rights);
  if (filter.listener < 0) return filter.missing;
  return descriptor_message{}.send(ends_[1], filter.listener) ? nullptr : "a socket failed";
}

void call_watch::begin(const char* missing) {
  if (!asked_) return;
  if (missing != nullptr) names_.give_up(missing);
  listener_ = descriptor_message{}.receive(ends_[0]);
  for (const int end : ends_) {
    if (end >= 0) close(end);
  }
  if (listener_ < 0) names_.give_up("the program was not started");
  if (listener_ >= 0) ioctl(listener_, set_listener_flags, listener_wakes_up_at_once);
}

bool call_watch::is_valid(std::uint64_t id) const {
  return ioctl(listener_, is_notice_valid, &id) == 0;
}

void call_watch::answer(bool at_end) {
  call_notice notice{};
  if (!at_end && ioctl(listener_, receive_notice, &notice) == 0) {
    if (notice.thread == 0) {
      names_.give_up("a process cannot be seen from here");
    } else if (is_valid(notice.id)) {
      note(caller{static_cast<pid_t>(notice.thread), getpid()}, notice.data);
    }
    call_answer answer{notice.id, 0, 0, answer_continue};
    ioctl(listener_, send_answer, &answer);
    return;
  }
  if (!at_end && (errno == ENOENT || errno == EINTR)) return; // it was killed, or a signal came
  close(listener_);
  listener_ = -1;
}

void call_watch::write(json_line& line) const { asked_ ? names_.write(line) : void(line.null()); }

void call_watch::note(const caller& from, const call_data& call) {
  const std::uint64_t* arguments = call.arguments;
  if (call.architecture != native_architecture || call.number >= 0x40000000) {
    names_.give_up(other_code);
    return;
  }
  char name[64];
  switch (call.number) {
    case call_io_uring_setup:
      names_.give_up("it uses io_uring");
      break;
    case SYS_seccomp:
    case SYS_prctl:
      note_filter(from, call);
      break;
    case SYS_bind:
      note_address(from, arguments[1], arguments[2], deed::bound);
      break;
    case SYS_connect:
      note_address(from, arguments[1], arguments[2], deed::connected);
      break;
    case SYS_shmget:
    case SYS_semget:
    case SYS_msgget:
      std::snprintf(name, sizeof name, "key 0x%x of System V IPC",
                    static_cast<unsigned>(lower_half(arguments[0])));
      if (!from.is_apart("ipc")) names_.add(name, deed::used, false, false);
      break;
    case SYS_mq_open:
    case SYS_mq_unlink:
      if (const auto queue = text(from, arguments[0]); queue && !from.is_apart("ipc")) {
        names_.add("queue " + *queue, deed::used, (arguments[1] & O_EXCL) != 0,
                   from.is_numbered(*queue));
      }
      break;
    case SYS_flock:
      if (const auto file = from.find_open(lower_half(arguments[0]))) {
        add(from, *file, deed::locked, false);
      }
      break;
    default:
      note_paths(from, call);
  }
}

void call_watch::note_paths(const caller& from, const call_data& call) {
  const std::uint64_t* arguments = call.arguments;
  const int folder = lower_half(arguments[0]);
  switch (call.number) {
#ifdef SYS_open
    case SYS_open:
      return note_open(from, AT_FDCWD, arguments[0], arguments[1]);
    case SYS_creat:
      return note_open(from, AT_FDCWD, arguments[0], O_WRONLY | O_CREAT | O_TRUNC);
    case SYS_rename:
      return note_rename(from, AT_FDCWD, arguments[0], AT_FDCWD, arguments[1]);
    case SYS_unlink:
    case SYS_rmdir:
      return note_entry(from, AT_FDCWD, arguments[0], deed::removed);
    case SYS_mkdir:
      return note_folder(from, AT_FDCWD, arguments[0]);
    case SYS_mknod:
      return note_entry(from, AT_FDCWD, arguments[0], deed::made);
    case SYS_link:
    case SYS_symlink:
      return note_entry(from, AT_FDCWD, arguments[1], deed::made);
#endif
    case SYS_openat:
      return note_open(from, folder, arguments[1], arguments[2]);
    case call_openat2: {
      std::uint64_t flags = O_RDWR | O_CREAT;
      if (!from.read(arguments[2], &flags, sizeof flags)) names_.give_up(unreadable);
      return note_open(from, folder, arguments[1], flags);
    }
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2:
      return note_rename(from, folder, arguments[1], lower_half(arguments[2]), arguments[3]);
    case SYS_unlinkat:
      return note_entry(from, folder, arguments[1], deed::removed);
    case SYS_mkdirat:
      return note_folder(from, folder, arguments[1]);
    case SYS_mknodat:
      return note_entry(from, folder, arguments[1], deed::made);
    case SYS_linkat:
      return note_entry(from, lower_half(arguments[2]), arguments[3], deed::made);
    case SYS_symlinkat:
      return note_entry(from, lower_half(arguments[1]), arguments[2], deed::made);
    case SYS_truncate:
      return note_open(from, AT_FDCWD, arguments[0], O_WRONLY);
    default:
      return;
  }
}

void call_watch::note_open(const caller& from, int folder, std::uint64_t name,
                           std::uint64_t flags) {
  constexpr std::uint64_t writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  if ((flags & writes) == 0 || (flags & O_PATH) != 0) return;
  if ((flags & O_TMPFILE) == O_TMPFILE) return; // it has no name
  const auto path = text(from, name);
  if (!path) return;
  const auto file = from.find(folder, *path);
  if (!file) return;
  const bool makes = (flags & O_CREAT) != 0;
  const bool only_new = makes && (flags & O_EXCL) != 0;
  if (!file->is_there) {
    if (makes) add(from, *file, deed::made, only_new);
  } else if (!only_new && file->may_be_written && !S_ISDIR(file->status.st_mode) &&
             !S_ISSOCK(file->status.st_mode) && !keeps_nothing(file->status)) {
    add(from, *file, deed::written, false);
  }
}

void call_watch::note_entry(const caller& from, int folder, std::uint64_t name, deed how) {
  const auto path = text(from, name);
  if (!path) return;
  const auto file = from.find_entry(folder, *path);
  // What is there already is not made, and what is not there is not removed.
  if (!file || file->is_there == (how == deed::made)) return;
  add(from, *file, how, how == deed::made);
}

void call_watch::note_folder(const caller& from, int folder, std::uint64_t name) {
  const auto path = text(from, name);
  if (!path) return;
  const auto file = from.find_entry(folder, *path);
  if (file && !file->is_there) names_.add_folder(file->path, from.is_numbered(file->path));
}

void call_watch::note_rename(const caller& from, int old_folder, std::uint64_t old_name,
                             int new_folder, std::uint64_t new_name) {
  const auto old_path = text(from, old_name);
  const auto new_path = text(from, new_name);
  if (!old_path || !new_path) return;
  const auto old_file = from.find_entry(old_folder, *old_path);
  const auto new_file = from.find_entry(new_folder, *new_path);
  if (!old_file || !new_file || !old_file->is_there) return;
  add(from, *old_file, deed::removed, false);
  add(from, *new_file, new_file->is_there ? deed::replaced : deed::made, false);
}

void call_watch::note_address(const caller& from, std::uint64_t address, std::uint64_t size,
                              deed how) {
  union {
    sockaddr any;
    sockaddr_un local;
    sockaddr_in four;
    sockaddr_in6 six;
  } name{};
  const std::size_t length = std::min<std::size_t>(size, sizeof name);
  if (length < sizeof(sa_family_t)) return;
  if (!from.read(address, &name, length)) {
    names_.give_up(unreadable);
    return;
  }
  const bool binds = how == deed::bound;
  if (name.any.sa_family == AF_UNIX) {
    constexpr std::size_t begin = offsetof(sockaddr_un, sun_path);
    if (length <= begin) return; // the kernel finds a name
    const char* text = name.local.sun_path;
    if (text[0] == '\0') {
      const std::string shown = '@' + std::string{text + 1, length - begin - 1};
      if (!from.is_apart("net")) names_.add(shown, how, true, from.is_numbered(shown));
      return;
    }
    const std::string path{text, strnlen(text, length - begin)};
    const auto file = binds ? from.find_entry(AT_FDCWD, path) : from.find(AT_FDCWD, path);
    const bool is_harmless =
        file && std::find(std::begin(harmless_servers), std::end(harmless_servers), file->path) !=
                    std::end(harmless_servers);
    if (file && file->is_there != binds && !is_harmless) add(from, *file, how, true);
    return;
  }
  const bool is_six = name.any.sa_family == AF_INET6;
  if (!is_six && name.any.sa_family != AF_INET) return;
  const unsigned port = ntohs(is_six ? name.six.sin6_port : name.four.sin_port);
  if (port == 0 || from.is_apart("net")) return; // the kernel finds a port
  char shown[INET6_ADDRSTRLEN] = {};
  const void* number = &name.four.sin_addr;
  if (is_six) number = &name.six.sin6_addr;
  inet_ntop(name.any.sa_family, number, shown, sizeof shown);
  const std::string where = binds ? "port" : is_six ? '[' + std::string{shown} + ']' : shown;
  names_.add(where + (binds ? ' ' : ':') + std::to_string(port), how, true, false);
}

void call_watch::note_filter(const caller& from, const call_data& call) {
  const bool by_prctl = call.number == SYS_prctl;
  const std::uint64_t operation = by_prctl ? call.arguments[1] - 1 : call.arguments[0];
  if (operation == set_mode_strict) names_.give_up("it limits its own system calls");
  if (operation != set_mode_filter) return;
  constexpr const char* asks = "it watches system calls itself";
  if (!by_prctl && (call.arguments[1] & flag_new_listener) != 0) {
    names_.give_up(asks);
    return;
  }
  sock_fprog program{};
  static sock_filter instructions[BPF_MAXINSNS];
  if (!from.read(call.arguments[2], &program, sizeof program) || program.len > BPF_MAXINSNS ||
      !from.read(reinterpret_cast<std::uintptr_t>(program.filter), instructions,
                 program.len * sizeof(sock_filter))) {
    names_.give_up(unreadable);
  } else if (asks_somebody(instructions, program.len)) {
    names_.give_up(asks);
  }
}

void call_watch::add(const caller& from, const found_file& file, deed how, bool exclusive) {
  if (!names_.knows(file.path)) {
    names_.add(file.path, how, exclusive, from.is_numbered(file.path));
  }
}

std::optional<std::string> call_watch::text(const caller& from, std::uint64_t address) {
  auto result = from.text_at(address);
  if (!result) names_.give_up(unreadable);
  return result;
}

} // namespace heapwise::bench
