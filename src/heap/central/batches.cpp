#include "heap/central/batches.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <ranges>
#include <span>
#include <utility>

#include "heap/base/linked.hpp"
#include "heap/base/metadata.hpp"
#include "heap/base/shards.hpp"
#include "heap/base/sharing.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

constexpr std::size_t bytes_for(std::size_t blocks) noexcept {
  return sizeof(batch) + blocks * sizeof(std::byte*);
}

/// Large blocks come in short batches, so there are arrays of two sizes.
constexpr std::size_t long_bytes = bytes_for(max_batch);
constexpr std::size_t short_bytes = long_bytes / 4 / alignof(batch) * alignof(batch);
constexpr std::array bytes_of_kind{long_bytes, short_bytes};

/// Returns: which of the two sizes a batch of the class has.
constexpr std::size_t kind_of(size_class class_index) noexcept {
  return bytes_for(class_table[class_index].batch) <= short_bytes ? 1 : 0;
}

/// The batches of one size that came back to a piece.
struct unused_batches {
  linked_stack<batch> stack;
  unused_batches* next = nullptr; // of the pieces that have such batches
  unused_batches* previous = nullptr;
};

class batch_memory;

/// The header of memory for batches of both sizes, which follow behind it. The memory is aligned to
/// its size, so the address of a batch leads to the header.
struct piece {
  batch_memory* owner = nullptr; // of the shard that it serves
  std::array<unused_batches, 2> unused;
  piece* next = nullptr; // of those without a batch in use
  std::uint32_t batches_in_use = 0;
};

constexpr std::size_t piece_bytes = std::size_t{64} << 10;
static_assert(sizeof(piece) <= short_bytes);

piece& piece_of(void* inside) noexcept {
  auto* const address = static_cast<std::byte*>(inside);
  return *reinterpret_cast<piece*>(address -
                                   reinterpret_cast<std::uintptr_t>(inside) % piece_bytes);
}

/// The memory of one shard, so that threads of different ones do not meet at its lock.
class alignas(cache_line_bytes) batch_memory {
 public:
  batch* take(std::size_t kind) noexcept {
    {
      const std::lock_guard hold{lock_};
      if (batch* const the_batch = take_locked(kind)) return the_batch;
    }
    // Without the lock: the system may take its time.
    void* const memory = map_metadata(piece_bytes, piece_bytes);
    const std::lock_guard hold{lock_};
    if (memory != nullptr) push_empty(*make_piece(memory));
    return take_locked(kind);
  }

  void give(batch* freed, std::size_t kind) noexcept {
    const std::lock_guard hold{lock_};
    piece& home = piece_of(freed);
    unused_batches& others = home.unused[kind];
    if (others.stack.is_empty()) with_unused_[kind].push(others);
    others.stack.push(*freed);
    --home.batches_in_use;
    if (home.batches_in_use == 0 && &home != fresh_) become_empty(home);
  }

  std::size_t trim() noexcept {
    std::size_t given_back = 0;
    linked_stack<piece> refused; // a process that has as many mappings as it may have keeps them
    std::unique_lock hold{lock_};
    for (std::size_t unneeded = least_empty_; unneeded > 0 && !empty_.is_empty(); --unneeded) {
      piece* const empty_piece = pop_empty();
      hold.unlock();
      if (unmap_metadata(empty_piece, piece_bytes, piece_bytes)) {
        given_back += piece_bytes;
      } else {
        os::purge(empty_piece, piece_bytes);
        refused.push(*empty_piece);
      }
      hold.lock();
    }
    while (!refused.is_empty()) push_empty(refused.pop());
    least_empty_ = empty_count();
    return given_back;
  }

  [[nodiscard]] std::size_t empty_bytes() const noexcept { return empty_count() * piece_bytes; }

  heap_mutex<shared::batches>& lock() noexcept { return lock_; }

 private:
  [[nodiscard]] std::size_t empty_count() const noexcept {
    return empty_count_.load(std::memory_order_relaxed);
  }

  /// Returns: nullptr if another piece is needed. Requires: the lock.
  [[nodiscard]] batch* take_locked(std::size_t kind) noexcept {
    expects_held(lock_);
    if (unused_batches* const from = with_unused_[kind].first(); from != nullptr) {
      batch& the_batch = from->stack.pop();
      if (from->stack.is_empty()) with_unused_[kind].remove(*from);
      ++piece_of(from).batches_in_use;
      return &the_batch;
    }
    if (left_of_fresh() < bytes_of_kind[kind] && !make_fresh()) return nullptr;
    auto* const the_batch =
        new (std::exchange(next_fresh_, next_fresh_ + bytes_of_kind[kind])) batch{};
    ++fresh_->batches_in_use;
    return the_batch;
  }

  [[nodiscard]] std::size_t left_of_fresh() const noexcept {
    if (fresh_ == nullptr) return 0;
    const std::byte* const end = reinterpret_cast<const std::byte*>(fresh_) + piece_bytes;
    return static_cast<std::size_t>(end - next_fresh_);
  }

  /// Effects: takes an empty piece for new batches. Returns: whether there is one.
  bool make_fresh() noexcept {
    if (empty_.is_empty()) return false;
    void* const memory = pop_empty();
    fresh_ = make_piece(memory);
    next_fresh_ = static_cast<std::byte*>(memory) + short_bytes;
    return true;
  }

  piece* make_piece(void* memory) noexcept {
    auto* const empty_piece = new (memory) piece{};
    empty_piece->owner = this;
    return empty_piece;
  }

  void become_empty(piece& whole) noexcept {
    for (std::size_t kind = 0; kind < bytes_of_kind.size(); ++kind) {
      unused_batches& unused = whole.unused[kind];
      if (!unused.stack.is_empty()) with_unused_[kind].remove(unused);
    }
    push_empty(whole);
  }

  void push_empty(piece& more) noexcept {
    empty_.push(more);
    empty_count_.store(empty_count() + 1, std::memory_order_relaxed);
  }

  piece* pop_empty() noexcept {
    const std::size_t left = empty_count() - 1;
    empty_count_.store(left, std::memory_order_relaxed);
    least_empty_ = left < least_empty_ ? left : least_empty_;
    return &empty_.pop();
  }

  heap_mutex<shared::batches> lock_;
  std::array<linked_list<unused_batches>, 2> with_unused_;
  piece* fresh_ = nullptr; // new batches are cut from it, up to its end
  std::byte* next_fresh_ = nullptr;
  linked_stack<piece> empty_;               // pieces without a batch in use
  std::atomic<std::size_t> empty_count_{0}; // written under the lock
  std::size_t least_empty_ = 0;             // since the last trim
};
static_assert(sizeof(batch_memory) % cache_line_bytes == 0, "no two of them share a line");
constinit std::array<batch_memory, most_shards> memories;

std::span<batch_memory> memories_in_use() noexcept {
  return std::span{memories}.first(shard_count());
}

} // namespace

batch* new_batch(size_class class_index, std::size_t shard) noexcept {
  return memories[shard].take(kind_of(class_index));
}

void delete_batch(batch* used, size_class class_index) noexcept {
  // Without a lock: a piece has one owner as long as a batch of it is in use.
  piece_of(used).owner->give(used, kind_of(class_index));
}

std::size_t trim_batches() noexcept {
  std::size_t given_back = 0;
  for (batch_memory& each : memories_in_use()) given_back += each.trim();
  return given_back;
}

std::size_t unused_batch_bytes() noexcept {
  std::size_t bytes = 0;
  for (const batch_memory& each : memories_in_use()) bytes += each.empty_bytes();
  return bytes;
}

void lock_batches() noexcept {
  for (batch_memory& each : memories_in_use()) each.lock().lock();
}
void unlock_batches() noexcept {
  for (batch_memory& each : std::views::reverse(memories_in_use())) each.lock().unlock();
}

} // namespace heapwise::detail
