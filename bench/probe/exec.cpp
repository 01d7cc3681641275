// The functions by which a process becomes or starts another program, reported and forwarded.
//
// The C library's own functions do not call each other by these names, so each has a wrapper.
// Programs that call the kernel themselves, and statically linked ones, are not seen.
#include <alloca.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probe/exec_report.hpp"
#include "probe/next.hpp"

namespace heapwise::bench {
namespace {

using list = char* const*;

constinit next_function<int(const char*, list, list)> next_execve{"execve"};
constinit next_function<int(const char*, list)> next_execv{"execv"};
constinit next_function<int(const char*, list)> next_execvp{"execvp"};
constinit next_function<int(const char*, list, list)> next_execvpe{"execvpe"};
constinit next_function<int(int, list, list)> next_fexecve{"fexecve"};
using spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  list, list);
constinit next_function<spawn> next_posix_spawn{"posix_spawn"};
constinit next_function<spawn> next_posix_spawnp{"posix_spawnp"};
constinit next_function<int(const char*)> next_system{"system"};
constinit next_function<FILE*(const char*, const char*)> next_popen{"popen"};

/// The lookup of a function may take locks and memory, so it happens before any vfork.
__attribute__((constructor)) void prepare_exec() noexcept {
  remember_preload();
  static_cast<void>(next_execve.get());
  static_cast<void>(next_execv.get());
  static_cast<void>(next_execvp.get());
  static_cast<void>(next_execvpe.get());
  static_cast<void>(next_fexecve.get());
  static_cast<void>(next_posix_spawn.get());
  static_cast<void>(next_posix_spawnp.get());
  static_cast<void>(next_system.get());
  static_cast<void>(next_popen.get());
}

/// Called when exec has returned `result`, which means that it failed.
int failed(int result) noexcept {
  report_failed_exec();
  return result;
}

/// A search along PATH tries many files that are not there. Such a call is not worth a line.
bool exists(const char* path) noexcept { return access(path, F_OK) == 0; }

int run_execv(const char* path, list arguments) noexcept {
  if (!exists(path)) return next_execv.get()(path, arguments);
  report_exec(path, environ);
  return failed(next_execv.get()(path, arguments));
}

int run_execve(const char* path, list arguments, list environment) noexcept {
  if (!exists(path)) return next_execve.get()(path, arguments, environment);
  report_exec(path, environment);
  return failed(next_execve.get()(path, arguments, environment));
}

int run_execvp(const char* file, list arguments) noexcept {
  report_exec(file, environ);
  return failed(next_execvp.get()(file, arguments));
}

/// The path behind an open descriptor, for the report only.
struct opened_path {
  explicit opened_path(int descriptor) noexcept {
    char link[32];
    char* end = link + sizeof link;
    *--end = '\0';
    for (int rest = descriptor < 0 ? 0 : descriptor; rest != 0 || *end == '\0'; rest /= 10) {
      *--end = static_cast<char>('0' + rest % 10);
    }
    constexpr char folder[] = "/proc/self/fd/";
    end -= sizeof folder - 1;
    std::memcpy(end, folder, sizeof folder - 1);
    const auto length = readlink(end, text, sizeof text - 1);
    text[length < 0 ? 0 : length] = '\0';
  }

  char text[512];
};

struct arguments_of_call {
  va_list rest;
};

std::size_t count_arguments(const char* first, arguments_of_call& call) noexcept {
  std::size_t count = 0;
  for (; first != nullptr; first = va_arg(call.rest, const char*)) ++count;
  return count;
}

/// Fills `into` with the arguments and the nullptr after them.
void copy_arguments(char** into, const char* first, arguments_of_call& call) noexcept {
  for (; first != nullptr; first = va_arg(call.rest, const char*)) {
    *into++ = const_cast<char*>(first);
  }
  *into = nullptr;
}

} // namespace
} // namespace heapwise::bench

using namespace heapwise::bench;

// The arguments of the variadic functions, in an array on the stack: the caller may not allocate.
#define HEAPWISE_COLLECT(vector, call, first)                                        \
  arguments_of_call call;                                                            \
  va_start((call).rest, first);                                                      \
  const std::size_t vector##_count = count_arguments(first, call);                   \
  va_end((call).rest);                                                               \
  auto** vector = static_cast<char**>(alloca((vector##_count + 1) * sizeof(char*))); \
  va_start((call).rest, first);                                                      \
  copy_arguments(vector, first, call)

#pragma GCC visibility push(default)
extern "C" {

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  return run_execve(path, arguments, environment);
}

int execv(const char* path, char* const* arguments) noexcept { return run_execv(path, arguments); }

int execvp(const char* file, char* const* arguments) noexcept {
  return run_execvp(file, arguments);
}

int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
  report_exec(file, environment);
  return failed(next_execvpe.get()(file, arguments, environment));
}

int execl(const char* path, const char* first, ...) noexcept {
  HEAPWISE_COLLECT(arguments, call, first);
  va_end(call.rest);
  return run_execv(path, arguments);
}

int execlp(const char* file, const char* first, ...) noexcept {
  HEAPWISE_COLLECT(arguments, call, first);
  va_end(call.rest);
  return run_execvp(file, arguments);
}

int execle(const char* path, const char* first, ...) noexcept {
  HEAPWISE_COLLECT(arguments, call, first);
  auto* environment = va_arg(call.rest, char* const*);
  va_end(call.rest);
  return run_execve(path, arguments, environment);
}

int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
  report_exec(opened_path{file}.text, environment);
  return failed(next_fexecve.get()(file, arguments, environment));
}

// The kernel's call itself: the C library has had this function only since its version 2.34.
int execveat(int folder, const char* path, char* const* arguments, char* const* environment,
             int flags) noexcept {
  const bool by_descriptor = (flags & AT_EMPTY_PATH) != 0 && path[0] == '\0';
  by_descriptor ? report_exec(opened_path{folder}.text, environment)
                : report_exec(path, environment);
  return failed(
      static_cast<int>(syscall(SYS_execveat, folder, path, arguments, environment, flags)));
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) {
  pid_t child = 0;
  const int error =
      next_posix_spawn.get()(&child, path, actions, attributes, arguments, environment);
  if (error == 0 && pid != nullptr) *pid = child;
  if (error == 0) report_spawn(child, path, environment);
  return error;
}

int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* environment) {
  pid_t child = 0;
  const int error =
      next_posix_spawnp.get()(&child, file, actions, attributes, arguments, environment);
  if (error == 0 && pid != nullptr) *pid = child;
  if (error == 0) report_spawn(child, file, environment);
  return error;
}

int system(const char* command) {
  if (command != nullptr) report_shell("/bin/sh", environ);
  return next_system.get()(command);
}

FILE* popen(const char* command, const char* mode) {
  report_shell("/bin/sh", environ);
  return next_popen.get()(command, mode);
}
}
#pragma GCC visibility pop
