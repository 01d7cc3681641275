#include "heap/batches.hpp"

#include <mutex>
#include <new>

#include "os/mutex.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

struct paper {
  os::mutex lock;
  batch* unused = nullptr;
  std::byte* fresh = nullptr;
  std::byte* fresh_end = nullptr;
};
constinit paper stack;

constexpr std::size_t piece_bytes = std::size_t{64} << 10;

} // namespace

batch* new_batch() noexcept {
  const std::lock_guard hold{stack.lock};
  if (batch* const reused = stack.unused; reused != nullptr) {
    stack.unused = reused->next;
    return reused;
  }
  if (static_cast<std::size_t>(stack.fresh_end - stack.fresh) < sizeof(batch)) {
    void* const piece = os::map(piece_bytes, alignof(batch));
    if (piece == nullptr) return nullptr;
    stack.fresh = static_cast<std::byte*>(piece);
    stack.fresh_end = stack.fresh + piece_bytes;
  }
  auto* const made = new (stack.fresh) batch;
  stack.fresh += sizeof(batch);
  return made;
}

void delete_batch(batch* used) noexcept {
  const std::lock_guard hold{stack.lock};
  used->next = stack.unused;
  stack.unused = used;
}

void lock_batches() noexcept { stack.lock.lock(); }
void unlock_batches() noexcept { stack.lock.unlock(); }

} // namespace heapwise::detail
