// Memory that processes hold through a descriptor: files of memfd_create and of /dev/shm.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace heapwise::bench {

/// Such a file takes memory also where no process has mapped it, and then the size of no process
/// shows it. A file that several descriptors or processes have counts once.
class shared_files {
 public:
  void begin() {
    count_ = 0;
    kib_ = 0;
  }

  /// Effects: adds the files that the process has open. A process that may not be looked at has
  /// none. Complexity: two system calls for each open descriptor.
  void add(pid_t process);

  [[nodiscard]] std::int64_t kib() const { return kib_; }

 private:
  static constexpr int most = 1024; ///< further ones are not counted

  struct file_id {
    dev_t device;
    ino_t number;
  };

  [[nodiscard]] bool is_new(file_id file);

  int count_ = 0;
  std::int64_t kib_ = 0;
  file_id files_[most];
};

} // namespace heapwise::bench
