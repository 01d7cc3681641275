#include "launcher/memory/shared_files.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace heapwise::bench {
namespace {

constexpr std::int64_t blocks_of_a_kib = 2; // st_blocks counts 512 bytes

bool is_in_memory(int folder, const char* name) {
  char target[32];
  const ssize_t length = readlinkat(folder, name, target, sizeof target - 1);
  if (length <= 0) return false;
  target[length] = '\0';
  const auto begins = [&target](const char* text) {
    return std::strncmp(target, text, std::strlen(text)) == 0;
  };
  return begins("/memfd:") || begins("/dev/shm/");
}

} // namespace

bool shared_files::is_new(file_id file) {
  const auto end = files_ + count_;
  const bool known = std::any_of(files_, end, [file](const file_id& other) {
    return other.device == file.device && other.number == file.number;
  });
  if (known || count_ == most) return false;
  files_[count_++] = file;
  return true;
}

void shared_files::add(pid_t process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd", static_cast<int>(process));
  DIR* const folder = opendir(path);
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    struct stat status{};
    if (is_in_memory(dirfd(folder), entry->d_name) &&
        fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 &&
        is_new({status.st_dev, status.st_ino})) {
      kib_ += status.st_blocks / blocks_of_a_kib;
    }
  }
  closedir(folder);
}

} // namespace heapwise::bench
