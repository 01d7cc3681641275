#include "heap/batches.hpp"

#include <mutex>
#include <new>

#include "os/mutex.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

constexpr std::size_t bytes_for(std::size_t blocks) noexcept {
  return sizeof(batch) + blocks * sizeof(std::byte*);
}

/// Large blocks come in short batches: paper of two sizes.
constexpr std::size_t long_bytes = bytes_for(max_batch);
constexpr std::size_t short_bytes = long_bytes / 4;

constexpr bool is_short(size_class of) noexcept {
  return bytes_for(class_table[of].batch) <= short_bytes;
}

struct paper {
  os::mutex lock;
  batch* unused[2] = {};
  std::byte* fresh = nullptr;
  std::byte* fresh_end = nullptr;
};
constinit paper stack;

constexpr std::size_t piece_bytes = std::size_t{64} << 10;

} // namespace

batch* new_batch(size_class of) noexcept {
  const std::lock_guard hold{stack.lock};
  batch*& unused = stack.unused[is_short(of)];
  if (batch* const reused = unused; reused != nullptr) {
    unused = reused->next;
    return reused;
  }
  const std::size_t bytes = is_short(of) ? short_bytes : long_bytes;
  if (static_cast<std::size_t>(stack.fresh_end - stack.fresh) < bytes) {
    void* const piece = os::map(piece_bytes, alignof(batch));
    if (piece == nullptr) return nullptr;
    stack.fresh = static_cast<std::byte*>(piece);
    stack.fresh_end = stack.fresh + piece_bytes;
  }
  auto* const made = new (stack.fresh) batch{};
  stack.fresh += bytes;
  return made;
}

void delete_batch(batch* used, size_class of) noexcept {
  const std::lock_guard hold{stack.lock};
  batch*& unused = stack.unused[is_short(of)];
  used->next = unused;
  unused = used;
}

void lock_batches() noexcept { stack.lock.lock(); }
void unlock_batches() noexcept { stack.lock.unlock(); }

} // namespace heapwise::detail
