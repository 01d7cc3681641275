// The part of a thread in a recording: where its next event goes.
#pragma once

#include <cstddef>

#include "recorder/session.hpp"
#include "recorder/stack_trace.hpp"
#include "trace/stamp.hpp"

namespace heapwise::bench {

/// What the ABIs of x86-64 and AArch64 have where a frame pointer points to.
struct call_frame {
  const call_frame* caller;
  std::uint64_t return_address;
};

/// Of the function in whose place it stands.
[[nodiscard, gnu::always_inline]] inline const call_frame* frame_here() noexcept {
  return static_cast<const call_frame*>(__builtin_frame_address(0));
}

/// Behind a call that was given the frame: the frame stays until the call has returned.
[[gnu::always_inline]] inline void keep_frame() noexcept { asm volatile(""); }

class thread_writer {
 public:
  /// While it lives, calls of this thread are parts of a call that the allocator serves, and are
  /// not recorded.
  ///
  /// An exception of the allocator passes through the frames of this library and ends nothing here:
  /// a cleanup would need functions of the C++ runtime that throws, and there may be several. So a
  /// call has also ended if its return address does not stand in its frame any more.
  class outer_call {
   public:
    /// `frame` is that of the function which the program has called.
    [[gnu::always_inline]] outer_call(thread_writer& writer, const call_frame* frame) noexcept
        : writer_{writer} {
      writer_.outer_ = frame;
      writer_.outer_return_ = frame->return_address;
    }
    [[gnu::always_inline]] ~outer_call() { writer_.outer_ = nullptr; }
    outer_call(const outer_call&) = delete;
    outer_call& operator=(const outer_call&) = delete;

   private:
    thread_writer& writer_;
  };

  /// While it lives, the thread works for the recorder. Its calls are not the program's, or those
  /// of a signal handler that has interrupted this work, which they would mix up.
  class own_work {
   public:
    explicit own_work(thread_writer& writer) noexcept : writer_{writer}, before_{writer.outer_} {
      writer_.outer_ = &recorder_itself;
    }
    ~own_work() { writer_.outer_ = before_; }
    own_work(const own_work&) = delete;
    own_work& operator=(const own_work&) = delete;

   private:
    thread_writer& writer_;
    const call_frame* before_;
  };

  /// Whether the call that the thread is making now has to be written down. `frame` is that of the
  /// function which was called.
  [[nodiscard]] bool records(const call_frame* frame) noexcept {
    if (is_in_another_call(frame)) return false;
    if (!recorded.records()) return false;
    return ring_ != nullptr || attach();
  }

  /// Whether that is so, and nothing has to be prepared. Nearly always the same as records().
  [[nodiscard, gnu::always_inline]] bool is_ready() const noexcept {
    return *here_ != 0 && outer_ == nullptr && recorded.is_on();
  }

  /// Whether there is a place to write to, even while no calls are recorded.
  [[nodiscard]] bool has_ring() noexcept { return ring_ != nullptr || attach(); }

  /// True of one call in 64, without regard to the pattern of the calls.
  [[nodiscard]] bool looks_closer() const noexcept {
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    return written_ * golden >> 58 == 0;
  }

  /// In a forked child: the ring is that of the parent.
  void leave_ring() noexcept {
    ring_ = nullptr;
    here_ = &nowhere;
    refused_ = false;
  }

  [[nodiscard]] bool is_in_another_call(const call_frame* frame) noexcept {
    return outer_ != nullptr && outer_call_goes_on(frame);
  }

  /// A call that returned no block ends what it was part of: an exception may follow.
  void leave_outer_call() noexcept { outer_ = nullptr; }

  /// Of a call that made this block; returns it. Null: of a call that failed.
  void* write_block(event_kind kind, void* block, std::size_t size, const void* site,
                    unsigned alignment_log = 0) noexcept;

  /// The same. Requires is_ready() before the call.
  ///
  /// If one event says all, no function is called: the functions of the program that this is a part
  /// of then need not save registers.
  [[gnu::always_inline]] void* write_made(event_kind kind, void* block, std::size_t size,
                                          const void* site, unsigned alignment_log) noexcept {
    if (block != nullptr && size < session::large_bytes && alignment_log == 0 &&
        until_stack_ != 1 && write_plain(kind, block, size, stamp_now(), site)) [[likely]] {
      --until_stack_;
      return block;
    }
    return write_block(kind, block, size, site, alignment_log);
  }

  /// Writes a call down if that takes one event and there is room for it; if not, nothing is
  /// written. Requires is_ready().
  [[nodiscard, gnu::always_inline]] bool write_plain(event_kind kind, const void* block,
                                                     std::uint64_t size, std::uint64_t stamp,
                                                     const void* site) noexcept {
    // A signal handler that wrote between the taking of a place and the event would tell the drain
    // of a place that holds an old event. So its calls are left out meanwhile, as in own_work.
    outer_ = &recorder_itself;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const bool fits = knows(site) && event::is_near(stamp, last_stamp_) && written_ < limit_;
    if (fits) [[likely]] {
      last_stamp_ = stamp;
      put({event::pack_head(kind, place_of(site), address_of(block)),
           event::pack_body(stamp, size)});
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    outer_ = nullptr;
    return fits;
  }

  /// An allocation with its stack, whose first frame is its site.
  void write_block(event_kind kind, const void* block, std::size_t size, const stack_trace& stack,
                   std::uint64_t stamp, unsigned alignment_log) noexcept {
    const own_work own{*this};
    write_stack(stack);
    const auto* site = reinterpret_cast<const void*>(stack.frames[0]);
    if (!knows(site)) write_site(site);
    write_wide(size, alignment_log);
    write_call(kind, block, size, stamp, site);
  }

  void write_end(event_kind kind, const void* block, std::uint64_t resident_pages,
                 std::uint64_t stamp, const void* site) noexcept {
    const own_work own{*this};
    if (!knows(site)) [[unlikely]]
      write_site(site);
    write_call(kind, block, resident_pages, stamp, site);
  }

  /// For a call whose first event is not the one that makes the block.
  void write_stack_if_new(const void* site) noexcept {
    if (!knows(site)) [[unlikely]] {
      write_stack(site);
      write_site(site);
      ++until_stack_; // the block that follows has its stack
    }
  }

 private:
  [[nodiscard]] static std::uint64_t address_of(const void* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }

  [[nodiscard]] static std::uint64_t place_of(const void* site) noexcept {
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    return address_of(site) * golden >> (64 - event::place_bits);
  }

  /// Whether the drain knows which site is meant by its place.
  [[nodiscard]] bool knows(const void* site) const noexcept {
    return sites_[place_of(site)] == address_of(site);
  }

  void write_wide(std::size_t size, unsigned alignment_log) noexcept {
    if (size >= event::largest_size || alignment_log != 0) [[unlikely]] {
      write({event::pack_head(event_kind::wide, alignment_log, 0), size});
    }
  }

  void write_call(event_kind kind, const void* block, std::uint64_t size, std::uint64_t stamp,
                  const void* site) noexcept {
    if (!event::is_near(stamp, last_stamp_)) [[unlikely]] {
      write({event::pack_head(event_kind::stamp, 0, 0), stamp});
    }
    last_stamp_ = stamp;
    write({event::pack_head(kind, place_of(site), address_of(block)),
           event::pack_body(stamp, size < event::largest_size ? size : event::largest_size)});
  }

  void write(const event& next) noexcept {
    if (written_ >= limit_ && !wait_for_room()) [[unlikely]]
      return;
    put(next);
  }

  /// Requires room, and that calls of a signal handler are left out: it may stand between any two
  /// of these lines. The place is taken first, so the number of events never becomes smaller.
  [[gnu::always_inline]] void put(const event& next) noexcept {
    event* const at = ring_ + written_++ % ring_events;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // The drain has read these lines before: to own them again takes a while.
    constexpr std::ptrdiff_t lines_ahead = 8 * 4;
    __builtin_prefetch(at + lines_ahead, 1);
    *at = next;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // release: the drain that sees the number sees the event.
    slot_->written.store(written_, std::memory_order_release);
  }

  bool outer_call_goes_on(const call_frame* frame) noexcept;
  bool attach() noexcept;
  bool find_room() noexcept;
  bool wait_for_room() noexcept;
  std::uint32_t next_gap() noexcept;
  void write_stack(const void* site) noexcept;
  void write_stack(const stack_trace& stack) noexcept;
  void write_site(const void* site) noexcept;
  static void end_of_thread(void* writer) noexcept;

  static constexpr std::uint32_t nowhere = 0;
  static constexpr call_frame recorder_itself{nullptr, 0};

  /// Points to 0 as long as there is no ring, and in a forked child.
  const std::uint32_t* here_ = &nowhere;
  event* ring_ = nullptr;
  std::uint64_t* sites_ = nullptr; ///< the addresses that the drain knows, by their places
  thread_slot* slot_ = nullptr;
  std::uint64_t written_ = 0;
  std::uint64_t limit_ = 0; ///< when this many are written, find_room() is to be called
  std::uint64_t last_stamp_ = 0;
  const call_frame* outer_ = nullptr; ///< of the call that the allocator serves
  std::uint64_t outer_return_ = 0;    ///< where that call returns to
  std::uint32_t until_stack_ = 0;
  std::uint32_t gaps_ = 0; ///< the state of the numbers that next_gap() draws
  bool refused_ = false;
};

// initial-exec: any other model may call malloc for the thread's block, and we are malloc.
__attribute__((tls_model("initial-exec"))) extern thread_local constinit thread_writer writer;

} // namespace heapwise::bench
