#include "launcher/calls/caller.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launcher/calls/notices.hpp"
#include "launcher/facts/small_file.hpp"

namespace heapwise::bench {
namespace {

constexpr std::uint64_t page = 4096;
constexpr long in_memory = 0x01021994; // TMPFS_MAGIC
constexpr std::string_view deleted = " (deleted)";

/// struct open_how
struct open_rules {
  std::uint64_t flags;
  std::uint64_t mode;
  std::uint64_t resolve;
};
constexpr std::uint64_t resolve_in_root = 0x10;

class owned_file {
 public:
  explicit owned_file(int file) : file_{file} {}
  owned_file(const owned_file&) = delete;
  owned_file& operator=(const owned_file&) = delete;
  ~owned_file() {
    if (file_ >= 0) close(file_);
  }
  [[nodiscard]] int number() const { return file_; }
  [[nodiscard]] bool is_open() const { return file_ >= 0; }

 private:
  int file_;
};

std::string link_at(const std::string& path) {
  char text[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), text, sizeof text);
  return {text, size < 0 ? 0 : static_cast<std::size_t>(size)};
}

/// The number N of /proc/self/fd/N, /dev/fd/N and their like; -1 of other names.
int descriptor_in(std::string_view name) {
  for (const std::string_view prefix : {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"}) {
    if (name.starts_with(prefix)) return std::atoi(std::string{name.substr(prefix.size())}.c_str());
  }
  return name == "/dev/stdin" ? 0 : name == "/dev/stdout" ? 1 : name == "/dev/stderr" ? 2 : -1;
}

/// /proc/NUMBER: a process changes only what is its own there, or its child's.
bool is_of_a_process(std::string_view path) {
  constexpr std::string_view folder = "/proc/";
  if (!path.starts_with(folder)) return false;
  path.remove_prefix(folder.size());
  return !path.empty() && path[0] >= '0' && path[0] <= '9';
}

/// Whether the launcher sees a file system with this number.
bool is_mounted_here(dev_t device) {
  char wanted[48];
  std::snprintf(wanted, sizeof wanted, " %u:%u ", major(device), minor(device));
  FILE* mounts = std::fopen("/proc/self/mountinfo", "re");
  if (mounts == nullptr) return true;
  char* text = nullptr;
  std::size_t room = 0;
  bool result = false;
  while (!result && getline(&text, &room, mounts) > 0)
    result = std::strstr(text, wanted) != nullptr;
  std::free(text);
  std::fclose(mounts);
  return result;
}

struct split_name {
  std::string folder;
  std::string last;
};

split_name split(std::string_view name) {
  while (name.size() > 1 && name.back() == '/') name.remove_suffix(1);
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return {".", std::string{name}};
  return {std::string{name.substr(0, std::max<std::size_t>(slash, 1))},
          std::string{name.substr(slash + 1)}};
}

} // namespace

caller::caller(pid_t thread, pid_t launcher) : thread_{thread}, launcher_{launcher} {}

const std::vector<long>& caller::numbers() const {
  for (pid_t each = thread_; numbers_.empty() || (each > 1 && each != launcher_);) {
    const small_file status{("/proc/" + std::to_string(each) + "/status").c_str()};
    numbers_.push_back(status.number_after("\nTgid:"));
    if (const char* line = std::strstr(status.text(), "\nNStgid:")) { // in each of its namespaces
      char* end = nullptr;
      for (const char* at = std::strchr(line, ':') + 1; *at != '\n' && *at != '\0'; at = end) {
        numbers_.push_back(std::strtol(at, &end, 10));
        if (end == at) break;
      }
    }
    each = static_cast<pid_t>(status.number_after("\nPPid:"));
  }
  return numbers_;
}

bool caller::read(std::uint64_t address, void* into, std::size_t size) const {
  const iovec ours{into, size};
  const iovec theirs{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), size};
  return process_vm_readv(thread_, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(size);
}

std::optional<std::string> caller::text_at(std::uint64_t address) const {
  std::string text;
  while (text.size() < PATH_MAX) { // what lies behind the next page may not be there
    char part[page];
    const auto size = static_cast<std::size_t>(page - address % page);
    if (!read(address, part, size)) return {};
    const std::size_t length = strnlen(part, size);
    text.append(part, length);
    if (length < size) return text;
    address += size;
  }
  return {};
}

std::optional<found_file> caller::find(int folder, std::string_view name) const {
  if (const int own = descriptor_in(name); own >= 0) return find_open(own);
  if (name.empty()) return {};
  const std::string path = without_self(name);
  const owned_file base{open_base(folder, path)};
  const owned_file file{open_below(base.number(), path, O_PATH)};
  if (file.is_open()) return describe(file.number());
  return errno == ENOENT ? find_entry(folder, name) : std::nullopt;
}

std::optional<found_file> caller::find_entry(int folder, std::string_view name) const {
  if (name.empty()) return {};
  const std::string path = without_self(name);
  const owned_file base{open_base(folder, path)};
  const split_name parts = split(path);
  const owned_file parent{open_below(base.number(), parts.folder, O_PATH | O_DIRECTORY)};
  if (!parent.is_open()) return {};
  std::optional<found_file> result = describe(parent.number());
  if (!result) return {};
  result->path += (result->path == "/" ? "" : "/") + parts.last;
  result->is_there =
      fstatat(parent.number(), parts.last.c_str(), &result->status, AT_SYMLINK_NOFOLLOW) == 0;
  return result;
}

std::optional<found_file> caller::find_open(int descriptor) const {
  const std::string place = place_of("fd/") + std::to_string(descriptor);
  const owned_file file{open(place.c_str(), O_PATH | O_CLOEXEC)};
  return file.is_open() ? describe(file.number()) : std::nullopt;
}

bool caller::is_numbered(std::string_view name) const {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  for (auto at = name.begin(); at != name.end();) {
    at = std::find_if(at, name.end(), is_digit);
    const auto end = std::find_if_not(at, name.end(), is_digit);
    const std::string digits{at, end};
    for (const long number : numbers()) {
      if (!digits.empty() && digits == std::to_string(number)) return true;
    }
    at = end;
  }
  return false;
}

bool caller::is_apart(const char* space) const {
  const std::string part = std::string{"ns/"} + space;
  return link_at(place_of(part.c_str())) != link_at("/proc/self/" + part);
}

bool caller::has_own_mounts() const {
  if (!has_own_mounts_) has_own_mounts_ = is_apart("mnt");
  return *has_own_mounts_;
}

std::string caller::without_self(std::string_view name) const {
  for (const std::string_view prefix : {"/proc/self/", "/proc/thread-self/"}) {
    if (name.starts_with(prefix)) return place_of("") + std::string{name.substr(prefix.size())};
  }
  return std::string{name};
}

std::string caller::place_of(const char* part) const {
  return "/proc/" + std::to_string(thread_) + '/' + part;
}

int caller::open_base(int folder, std::string_view name) const {
  const std::string part = name[0] == '/'       ? "root"
                           : folder == AT_FDCWD ? "cwd"
                                                : "fd/" + std::to_string(folder);
  return open(place_of(part.c_str()).c_str(), O_PATH | O_CLOEXEC);
}

int caller::open_below(int base, const std::string& name, int flags) const {
  struct stat theirs{};
  struct stat ours{};
  const bool has_our_root =
      name[0] != '/' || (!has_own_mounts() && fstat(base, &theirs) == 0 && stat("/", &ours) == 0 &&
                         theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev);
  if (base < 0) return -1;
  if (has_our_root) return openat(base, name.c_str(), flags | O_CLOEXEC);
  const open_rules rules{static_cast<std::uint64_t>(flags | O_CLOEXEC), 0, resolve_in_root};
  return static_cast<int>(syscall(call_openat2, base, name.c_str(), &rules, sizeof rules));
}

std::optional<found_file> caller::describe(int file) const {
  found_file result;
  const std::string here = "/proc/self/fd/" + std::to_string(file);
  result.path = link_at(here);
  result.is_there = true;
  if (!result.path.starts_with('/') || result.path.ends_with(deleted)) return {};
  if (is_of_a_process(result.path) || fstat(file, &result.status) != 0) return {};
  struct statfs system{};
  if (has_own_mounts() && fstatfs(file, &system) == 0 && system.f_type == in_memory &&
      !is_mounted_here(result.status.st_dev)) {
    return {};
  }
  result.may_be_written =
      access(here.c_str(), W_OK) == 0 || (errno != EACCES && errno != EROFS && errno != EPERM);
  return result;
}

} // namespace heapwise::bench
