#include "launcher/start/handed_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heapwise::bench {
namespace {

constexpr handed_variables variables[] = {probe_variables, count_variables};

/// Beyond the descriptors that scripts name (0 to 9) and that programs are given, which are the
/// lowest that are free; but not so high that the table of descriptors grows by much.
constexpr int first_descriptor = 200;

bool names(const char* entry, const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

bool names_a_descriptor(const char* entry) {
  for (const auto& each : variables) {
    if (names(entry, each.descriptor)) return true;
  }
  return false;
}

/// Returns: the open file; no file if it cannot be opened or that many descriptors are not allowed.
/// Then the probes still have its path.
handed_file open_file(const char* path) {
  if (path == nullptr || path[0] == '\0') return {};
  const int low = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (low < 0) return {};
  const handed_file file = handed_file::of(fcntl(low, F_DUPFD_CLOEXEC, first_descriptor));
  close(low);
  return file;
}

} // namespace

const char* find_setting(char* const* environment, const char* name) {
  for (; *environment != nullptr; ++environment) {
    if (names(*environment, name)) return *environment + std::strlen(name) + 1;
  }
  return nullptr;
}

handed_files::handed_files(char** environment) : environment_{environment} {
  std::size_t count = 0;
  while (environment[count] != nullptr) ++count;
  extended_ = static_cast<char**>(std::calloc(count + files + 1, sizeof(char*)));
  if (extended_ == nullptr) return;
  environment_ = extended_;
  char** end = extended_;
  for (; *environment != nullptr; ++environment) {
    if (!names_a_descriptor(*environment)) *end++ = *environment;
  }
  for (int i = 0; i < files; ++i) {
    handed_[i] = open_file(find_setting(environment_, variables[i].path));
    if (handed_[i].descriptor < 0) continue;
    char text[handed_file::text_bytes];
    handed_[i].write(text);
    std::snprintf(entries_[i], sizeof entries_[i], "%s=%s", variables[i].descriptor, text);
    *end++ = entries_[i];
  }
}

handed_files::~handed_files() {
  std::free(extended_);
  for (const auto& file : handed_) {
    if (file.descriptor >= 0) close(file.descriptor);
  }
}

void handed_files::keep_open() const {
  for (const auto& file : handed_) {
    if (file.descriptor >= 0) fcntl(file.descriptor, F_SETFD, 0);
  }
}

} // namespace heapwise::bench
