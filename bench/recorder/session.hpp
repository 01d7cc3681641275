// What the recording threads of this process share: the memory of the drain, and whether to record.
#pragma once

#include "recorder/process_place.hpp"
#include "trace/shared.hpp"

namespace heapwise::bench {

/// One bit for each of the addresses that marked blocks have had, by a hash: misses are harmless.
inline constexpr std::size_t filter_bits = 1U << 16;
extern constinit std::atomic<std::uint64_t> mark_filter[filter_bits / 64];

class session {
 public:
  /// Whether calls of this process are recorded now. Any thread may ask; never allocates.
  ///
  /// False before the C library is set up and without a drain. If the drain does not follow
  /// children: also in a child of fork, and in any process but the one that the drain has started.
  [[nodiscard]] bool records() noexcept {
    const std::uint32_t* here = in_this_process_;
    if (here == nullptr) return begin();
    if (*here == 0) [[unlikely]]
      return begin_in_child();
    return is_on();
  }

  /// Requires has_memory().
  [[nodiscard]] bool is_on() const noexcept {
    return memory_->recording.load(std::memory_order_relaxed) == recording_state::on;
  }

  /// A word that is 0 if this is not the process that records() was asked in, but a child of it.
  [[nodiscard]] const std::uint32_t* in_this_process() const noexcept { return in_this_process_; }

  /// Whether the end of a block that was recorded is of interest, even in a pause.
  [[nodiscard]] bool follows_blocks() const noexcept {
    const std::uint32_t* here = in_this_process_;
    return here != nullptr && *here != 0 &&
           memory_->recording.load(std::memory_order_relaxed) != recording_state::off;
  }

  /// Whether this process, or the one that forked it, has the memory of a drain.
  [[nodiscard]] bool has_memory() const noexcept { return memory_ != nullptr; }

  [[nodiscard]] shared_memory& memory() const noexcept { return *memory_; }
  [[nodiscard]] process_entry& process() const noexcept { return *process_.entry; }
  [[nodiscard]] process_texts& texts() const noexcept { return *process_.texts; }

  /// Before exec: where to note what the process of this number becomes, which may be this one or a
  /// child of it. Null if that is of no interest.
  [[nodiscard]] exec_note* note_for(std::int32_t process) noexcept;
  /// Takes the note of this number back.
  void forget_note_of(std::int32_t process) noexcept;

  /// Whether this is not a child of vfork, which has the memory of its parent, the words that tell
  /// a forked child included. Requires records().
  [[nodiscard]] bool is_in_own_process() const noexcept;

  /// Takes a slot and maps its places and its ring, slot_bytes of them. Returns null if there is
  /// none; the thread is then counted.
  void* take_slot(thread_slot*& slot) noexcept;

  /// Tells the drain what is mapped where, if the loader has loaded a library since the last time.
  void note_modules() noexcept;

  /// True once for each image of the process: for the thread that is to write it down.
  [[nodiscard]] bool take_image() noexcept { return image_.exchange(0) != 0; }

  /// Frees a block that is at least this large look at what is resident of it.
  static constexpr std::size_t large_bytes = 65536;
  /// Some of the frees of blocks that are at least this large look, too.
  static constexpr std::size_t medium_bytes = 4096;

  /// The end of a large block, and of one of the time before the allocator was known, is not only
  /// written down.
  static void mark(const void* block) noexcept {
    if (may_be_marked(block)) return; // else threads would take the line from each other
    const std::size_t bit = filter_bit(block);
    mark_filter[bit / 64].fetch_or(std::uint64_t{1} << bit % 64, std::memory_order_relaxed);
  }
  [[nodiscard]] static bool may_be_marked(const void* block) noexcept {
    const std::size_t bit = filter_bit(block);
    return (mark_filter[bit / 64].load(std::memory_order_relaxed) >> bit % 64 & 1) != 0;
  }

 private:
  [[nodiscard]] static std::size_t filter_bit(const void* block) noexcept {
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    return (reinterpret_cast<std::uintptr_t>(block) >> 4) * golden >> 48;
  }

  bool begin() noexcept;
  bool begin_in_child() noexcept;
  bool open(const char* path, const char* handed) noexcept;
  /// Maps what the file begins with.
  bool map(int file) noexcept;
  void begin_image() noexcept;
  void* map_slot(unsigned number) noexcept;

  /// In a page that the kernel clears in a forked child, however it was forked.
  std::uint32_t* in_this_process_ = nullptr;
  shared_memory* memory_ = nullptr;
  void* slots_begin_ = nullptr; ///< a mapping of the first page of all slots
  process_place process_;
  std::atomic<void*> mapped_[most_threads]{}; ///< as they are mapped here; the slot's owner asks
  std::atomic<std::uint32_t> beginning_{0};
  std::atomic<std::uint32_t> image_{0};
};

extern session recorded;

} // namespace heapwise::bench
