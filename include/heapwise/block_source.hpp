// The source of big pieces of memory: the interface between the allocators and the operating
// system.
#pragma once

#include <cstddef>

#include <heapwise/standard.hpp>

namespace heapwise::inline v0_2 {

/// Gives and takes back big pieces of memory (chunks). The functions are virtual, because they are
/// called on slow paths only.
///
/// Thread safety: an implementation must be as thread-safe as the allocators that share it need.
/// `os_blocks()` may be used by all threads at once, `static_blocks` and `fake_blocks` by one
/// thread at a time. One pool, arena or hybrid calls its source from one thread at a time, whatever
/// its policy is. So a source that is not thread-safe may serve one allocator that many threads
/// use. A call must not use the allocator that makes the call, a pool of policy thread_cached, or a
/// hybrid, because locks may be held.
class block_source {
 public:
  /// Effects: obtains a piece of memory. Has no effect if it returns nullptr.
  /// Returns: `size_bytes` of memory aligned to `alignment` (a power of two), or nullptr.
  /// Complexity: one system call or less.
  virtual void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept = 0;

  /// Effects: takes back a piece that `allocate` returned. Requires: the same size and alignment.
  virtual void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept = 0;

  /// Effects: makes a piece larger, at its place or at another one. Its contents stay.
  /// Requires: `memory` came from `allocate` or `enlarge` with `size_bytes` and `alignment`.
  /// `larger_bytes` is not smaller than `size_bytes`.
  /// Returns: the piece, which from now on has `larger_bytes`; or nullptr, and then nothing has
  /// changed. A source that does not override it always returns nullptr.
  [[nodiscard]] virtual void* enlarge(void* memory, std::size_t size_bytes,
                                      std::size_t larger_bytes, std::size_t alignment) noexcept {
    static_cast<void>(memory);
    static_cast<void>(size_bytes);
    static_cast<void>(larger_bytes);
    static_cast<void>(alignment);
    return nullptr;
  }

  /// Effects: if the source can do it, gives back the physical memory behind a part of a piece. The
  /// addresses stay usable, and their contents are lost. Does nothing unless the source overrides
  /// it.
  virtual void purge(void* memory, std::size_t size_bytes) noexcept {
    static_cast<void>(memory);
    static_cast<void>(size_bytes);
  }

  /// Returns: the size that pieces are rounded up to. A request of a multiple of it wastes no
  /// bytes.
  [[nodiscard]] virtual std::size_t granularity_bytes() const noexcept { return 1; }

 protected:
  block_source() = default;
  block_source(const block_source&) = default;
  block_source& operator=(const block_source&) = default;
  ~block_source() = default;
};

/// The source of the operating system's pages. Fresh memory is zero and untouched. The source is
/// never destroyed.
/// Returns: the source. Thread safety: all threads at once.
[[nodiscard]] block_source& os_blocks() noexcept;

/// A buffer of the caller, handed out from front to back. Only the last piece can be taken back for
/// reuse. All other pieces stay used until the source is destroyed. Thread safety: one thread at a
/// time.
class static_blocks final : public block_source {
 public:
  /// Requires: `buffer` points to `size_bytes` of memory that outlives this source and its users.
  static_blocks(void* buffer, std::size_t size_bytes) noexcept
      : begin_{static_cast<std::byte*>(buffer)}, next_{begin_}, end_{begin_ + size_bytes} {}

  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override;
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override;

  /// Returns: the bytes that were not handed out yet.
  [[nodiscard]] std::size_t remaining_bytes() const noexcept {
    return static_cast<std::size_t>(end_ - next_);
  }

 private:
  std::byte* begin_;
  std::byte* next_;
  std::byte* end_;
};

/// Forwards to another source, counts requests, and refuses them on demand, so that tests can reach
/// every error path.
/// Thread safety: one thread at a time.
class fake_blocks final : public block_source {
 public:
  /// Requires: `upstream` outlives this source. No request fails before `fail_after`.
  explicit fake_blocks(block_source& upstream = os_blocks()) noexcept : upstream_{&upstream} {}

  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override;
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override;
  /// As block_source::enlarge. It counts as a request.
  [[nodiscard]] void* enlarge(void* memory, std::size_t size_bytes, std::size_t larger_bytes,
                              std::size_t alignment) noexcept override;
  void purge(void* memory, std::size_t size_bytes) noexcept override {
    upstream_->purge(memory, size_bytes);
  }
  [[nodiscard]] std::size_t granularity_bytes() const noexcept override {
    return upstream_->granularity_bytes();
  }

  /// Effects: forwards `successes` more requests and refuses all later ones.
  void fail_after(std::size_t successes) noexcept { successes_left_ = successes; }

  /// Returns: how often a piece or a larger piece was requested, refused requests included.
  [[nodiscard]] std::size_t requests() const noexcept { return requests_; }
  /// Returns: how many pieces were obtained and not given back yet.
  [[nodiscard]] std::size_t pieces_out() const noexcept { return pieces_out_; }
  /// Returns: the bytes of these pieces.
  [[nodiscard]] std::size_t bytes_out() const noexcept { return bytes_out_; }

 private:
  block_source* upstream_;
  std::size_t successes_left_ = static_cast<std::size_t>(-1);
  std::size_t requests_ = 0;
  std::size_t pieces_out_ = 0;
  std::size_t bytes_out_ = 0;
};

} // namespace heapwise::inline v0_2
