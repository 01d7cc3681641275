#include <cerrno>

#include <fcntl.h>

#include "os/linux/system_call.hpp"
#include "os/reports/mapped_files.hpp"

namespace heapwise::os {

namespace {

constexpr int no_more = -1;

/// Returns: the value of a hexadecimal digit, or 16 if it is not a digit.
unsigned digit_of(int character) noexcept {
  if (character >= '0' && character <= '9') return static_cast<unsigned>(character - '0');
  if (character >= 'a' && character <= 'f') return static_cast<unsigned>(character - 'a') + 10;
  return 16;
}

} // namespace

mapped_files::mapped_files() noexcept
    : descriptor_{static_cast<int>(
          system_call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0L).value())} {
}

mapped_files::~mapped_files() {
  if (descriptor_ >= 0) system_call(SYS_close, descriptor_);
}

int mapped_files::take() noexcept {
  if (descriptor_ < 0) return no_more;
  if (at_ == length_) {
    system_answer read{0};
    do {
      read = system_call(SYS_read, descriptor_, buffer_, sizeof buffer_);
    } while (read.error() == EINTR);
    if (read.value() <= 0) return no_more;
    at_ = 0;
    length_ = static_cast<std::size_t>(read.value());
  }
  return static_cast<unsigned char>(buffer_[at_++]);
}

std::uintptr_t mapped_files::take_number(unsigned radix) noexcept {
  std::uintptr_t number = 0;
  for (;;) {
    last_ = take();
    const unsigned digit = digit_of(last_);
    if (digit >= radix) return number;
    number = number * radix + digit;
  }
}

std::string_view mapped_files::take_path() noexcept {
  int character = last_;
  while (character == ' ') character = take();
  std::size_t length = 0;
  for (; character != '\n' && character != no_more; character = take()) {
    if (length < sizeof path_) path_[length] = static_cast<char>(character);
    ++length;
  }
  last_ = character;
  return length < sizeof path_ ? std::string_view{path_, length} : std::string_view{};
}

bool mapped_files::next(mapped_file& into) noexcept {
  do { // 7f10-7f20 r-xp 1000 fe:00 1234   /path
    into.begin = take_number(16);
    into.end = take_number(16);
    do { // what the process may do with it
      last_ = take();
    } while (last_ != ' ' && last_ != no_more);
    into.offset = take_number(16);
    static_cast<void>(take_number(16));
    static_cast<void>(take_number(16));
    const std::uintptr_t inode = take_number(10);
    into.path = take_path();
    // The first piece of a file may lie before gaps that the loader left.
    if (into.offset == 0 || inode != base_inode_) base_ = into.begin - into.offset;
    base_inode_ = inode;
    into.base = base_;
    if (!into.path.empty() && into.path.front() == '/') return true;
  } while (last_ != no_more);
  return false;
}

} // namespace heapwise::os
