// The part of a thread in a recording: where its next event goes.
#pragma once

#include <cstddef>

#include "recorder/session.hpp"
#include "trace/stamp.hpp"

namespace heapwise::bench {

class thread_writer {
 public:
  /// While it lives, calls of this thread are part of another call and are not recorded.
  class inner_calls {
   public:
    explicit inner_calls(thread_writer& writer) noexcept : writer_{writer} {
      writer_.inner_ = true;
    }
    ~inner_calls() { writer_.inner_ = false; }
    inner_calls(const inner_calls&) = delete;
    inner_calls& operator=(const inner_calls&) = delete;

   private:
    thread_writer& writer_;
  };

  /// Whether the call that the thread is making now has to be written down.
  [[nodiscard]] bool records() noexcept {
    if (inner_) return false;
    if (!recorded.records()) return false;
    return ring_ != nullptr || attach();
  }

  /// A call that returned no block ends what it was part of: an exception may follow.
  void leave_inner_calls() noexcept { inner_ = false; }

  void write_block(event_kind kind, const void* block, std::size_t size, const void* site,
                   unsigned alignment_log = 0) noexcept {
    const std::uint64_t stamp = stamp_after();
    if (block == nullptr) kind = event_kind::failed;
    if (size >= session::large_bytes) recorded.remember_large(block);
    if (stack_is_due(site)) write_stack(stamp, site);
    write({stamp, address_of(block), event::pack(kind, size, alignment_log), address_of(site)});
  }

  void write_end(event_kind kind, const void* block, std::uint64_t resident_pages,
                 std::uint64_t stamp, const void* site) noexcept {
    write({stamp, address_of(block), event::pack(kind, resident_pages), address_of(site)});
  }

 private:
  [[nodiscard]] static std::uint64_t address_of(const void* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }

  void write(const event& next) noexcept {
    if (written_ == limit_ && !wait_for_room()) return;
    ring_[written_ % ring_events] = next;
    ++written_;
    // release: the drain that sees the number sees the event.
    slot_->written.store(written_, std::memory_order_release);
  }

  /// Returns true for an allocation of a site that this thread does not remember, and for one
  /// allocation in shared_memory::stack_every.
  [[nodiscard]] bool stack_is_due(const void* site) noexcept {
    const std::uint64_t address = address_of(site);
    std::uint64_t& seen = seen_[(address ^ address >> 8) % seen_sites];
    if (seen == address && --until_stack_ != 0) return false;
    seen = address;
    return true;
  }

  bool attach() noexcept;
  bool wait_for_room() noexcept;
  void write_stack(std::uint64_t stamp, const void* site) noexcept;
  static void end_of_thread(void* writer) noexcept;

  static constexpr std::size_t seen_sites = 256;

  event* ring_ = nullptr;
  thread_slot* slot_ = nullptr;
  std::uint64_t written_ = 0;
  std::uint64_t limit_ = 0;
  std::uint32_t until_stack_ = 1;
  bool inner_ = false;
  bool refused_ = false;
  std::uint64_t seen_[seen_sites] = {};
};

// initial-exec: any other model may call malloc for the thread's block, and we are malloc.
__attribute__((tls_model("initial-exec"))) extern thread_local constinit thread_writer writer;

} // namespace heapwise::bench
