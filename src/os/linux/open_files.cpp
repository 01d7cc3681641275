#include "os/open_files.hpp"

// glibc exports these for debuggers and for its own libraries. Another C library may lack them.
extern "C" {
[[gnu::weak]] void _IO_list_lock();
[[gnu::weak]] void _IO_list_unlock();
[[gnu::weak]] void _IO_list_resetlock();
}

namespace heapwise::os {

void lock_open_files() noexcept {
  if (_IO_list_lock != nullptr) _IO_list_lock();
}

void unlock_open_files() noexcept {
  if (_IO_list_unlock != nullptr) _IO_list_unlock();
}

void free_open_files() noexcept {
  if (_IO_list_resetlock != nullptr) _IO_list_resetlock();
}

} // namespace heapwise::os
