#include "heap/batches.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

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
constexpr std::array paper_bytes{long_bytes, short_bytes};

/// Returns: the number of the size of paper.
constexpr std::size_t kind_of(size_class of) noexcept {
  return bytes_for(class_table[of].batch) <= short_bytes ? 1 : 0;
}

/// Memory for papers of both sizes. It is aligned to its size, so that a paper's address leads to
/// it. The papers follow behind it.
struct piece {
  struct neighbours {
    piece* next = nullptr;
    piece* previous = nullptr;
  };
  std::array<batch*, 2> unused{};     // papers that came back
  std::array<neighbours, 2> places{}; // in the lists of the pieces that have such papers
  std::uint32_t papers_in_use = 0;
};

constexpr std::size_t piece_bytes = std::size_t{64} << 10;
static_assert(sizeof(piece) <= short_bytes);

piece& piece_of(batch* paper) noexcept {
  auto* const address = reinterpret_cast<std::byte*>(paper);
  return *reinterpret_cast<piece*>(address - reinterpret_cast<std::uintptr_t>(paper) % piece_bytes);
}

class paper_stock {
 public:
  batch* take(std::size_t kind) noexcept {
    const std::lock_guard hold{lock_};
    if (piece* const from = with_unused_[kind]; from != nullptr) {
      batch* const paper = from->unused[kind];
      from->unused[kind] = paper->next;
      if (paper->next == nullptr) remove(*from, kind);
      ++from->papers_in_use;
      return paper;
    }
    if (left_of_fresh() < paper_bytes[kind] && !make_fresh()) return nullptr;
    auto* const paper = new (std::exchange(next_paper_, next_paper_ + paper_bytes[kind])) batch{};
    ++fresh_->papers_in_use;
    return paper;
  }

  void give(batch* paper, std::size_t kind) noexcept {
    const std::lock_guard hold{lock_};
    piece& home = piece_of(paper);
    if (home.unused[kind] == nullptr) insert(home, kind);
    paper->next = home.unused[kind];
    home.unused[kind] = paper;
    --home.papers_in_use;
    if (home.papers_in_use == 0 && &home != fresh_) become_empty(home);
  }

  std::size_t trim() noexcept {
    std::size_t given_back = 0;
    piece* refused = nullptr; // a process that has as many mappings as it may have keeps them
    std::unique_lock hold{lock_};
    for (std::size_t unneeded = least_empty_; unneeded > 0 && empty_ != nullptr; --unneeded) {
      piece* const gone = pop_empty();
      hold.unlock();
      if (os::unmap(gone, piece_bytes)) {
        given_back += piece_bytes;
      } else {
        os::purge(gone, piece_bytes);
        gone->places[0].next = std::exchange(refused, gone);
      }
      hold.lock();
    }
    while (refused != nullptr) push_empty(*std::exchange(refused, refused->places[0].next));
    least_empty_ = empty_count();
    return given_back;
  }

  [[nodiscard]] std::size_t empty_bytes() const noexcept { return empty_count() * piece_bytes; }

  os::mutex& lock() noexcept { return lock_; }

 private:
  [[nodiscard]] std::size_t empty_count() const noexcept {
    return empty_count_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::size_t left_of_fresh() const noexcept {
    if (fresh_ == nullptr) return 0;
    const std::byte* const end = reinterpret_cast<const std::byte*>(fresh_) + piece_bytes;
    return static_cast<std::size_t>(end - next_paper_);
  }

  /// Effects: papers are cut from another piece. Returns: whether there is one.
  bool make_fresh() noexcept {
    void* const memory = empty_ != nullptr ? pop_empty() : os::map(piece_bytes, piece_bytes);
    if (memory == nullptr) return false;
    fresh_ = new (memory) piece{};
    next_paper_ = static_cast<std::byte*>(memory) + short_bytes;
    return true;
  }

  void insert(piece& more, std::size_t kind) noexcept {
    piece* const first = std::exchange(with_unused_[kind], &more);
    more.places[kind] = {.next = first, .previous = nullptr};
    if (first != nullptr) first->places[kind].previous = &more;
  }

  void remove(piece& gone, std::size_t kind) noexcept {
    const piece::neighbours place = gone.places[kind];
    (place.previous == nullptr ? with_unused_[kind] : place.previous->places[kind].next) =
        place.next;
    if (place.next != nullptr) place.next->places[kind].previous = place.previous;
  }

  void become_empty(piece& whole) noexcept {
    for (std::size_t kind = 0; kind < paper_bytes.size(); ++kind) {
      if (whole.unused[kind] != nullptr) remove(whole, kind);
    }
    push_empty(whole);
  }

  void push_empty(piece& more) noexcept {
    more.places[0].next = std::exchange(empty_, &more);
    empty_count_.store(empty_count() + 1, std::memory_order_relaxed);
  }

  piece* pop_empty() noexcept {
    const std::size_t left = empty_count() - 1;
    empty_count_.store(left, std::memory_order_relaxed);
    least_empty_ = left < least_empty_ ? left : least_empty_;
    return std::exchange(empty_, empty_->places[0].next);
  }

  os::mutex lock_;
  std::array<piece*, 2> with_unused_{};
  piece* fresh_ = nullptr; // papers are cut from it, up to its end
  std::byte* next_paper_ = nullptr;
  piece* empty_ = nullptr;                  // pieces without a paper in use
  std::atomic<std::size_t> empty_count_{0}; // written under the lock
  std::size_t least_empty_ = 0;             // since the last trim
};
constinit paper_stock stock;

} // namespace

batch* new_batch(size_class of) noexcept { return stock.take(kind_of(of)); }

void delete_batch(batch* used, size_class of) noexcept { stock.give(used, kind_of(of)); }

std::size_t trim_batches() noexcept { return stock.trim(); }

std::size_t unused_batch_bytes() noexcept { return stock.empty_bytes(); }

void lock_batches() noexcept { stock.lock().lock(); }
void unlock_batches() noexcept { stock.lock().unlock(); }

} // namespace heapwise::detail
