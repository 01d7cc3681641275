// What the recording threads of this process share: the memory of the drain, and whether to record.
#pragma once

#include "recorder/process_place.hpp"
#include "trace/shared.hpp"

namespace heapwise::bench {

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
    return memory_->recording.load(std::memory_order_relaxed) == recording_state::on;
  }

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

  void remember_large(const void* block) noexcept;
  [[nodiscard]] bool may_be_large(const void* block) const noexcept;

 private:
  bool begin() noexcept;
  bool begin_in_child() noexcept;
  bool open(const char* path) noexcept;
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
