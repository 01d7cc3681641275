// Where every pool gets its chunks from, so that none has its page faults in another place.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <new>

#include <heapwise/block_source.hpp>

namespace pools {

/// One region for the pools of a process, one pool after the other. Its pages are faulted in by the
/// first pool that uses them, in the repeat that is dropped, and stay: later pools find memory that
/// is resident, as malloc does. Without a region, chunks come from where each library has them by
/// default. For one thread.
class chunk_memory {
 public:
  /// From now on chunks come from a region that this many bytes of blocks fit into, with what a
  /// pool adds to them or has left over when its chunks double.
  static void prepare(std::size_t block_bytes) {
    bytes_ = 4 * block_bytes + (std::size_t{16} << 20);
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    first_ = static_cast<std::byte*>(memory);
  }

  [[nodiscard]] static bool is_prepared() noexcept { return first_ != nullptr; }

  /// Returns: memory of the region, nullptr when there is no more.
  static void* take(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t begin = (taken_ + alignment - 1) / alignment * alignment;
    if (begin > bytes_ || bytes > bytes_ - begin) return nullptr;
    taken_ = begin + bytes;
    ++chunks_;
    return first_ + begin;
  }

  /// The region is used from its start again when every chunk has come back.
  static void give_back() noexcept {
    if (--chunks_ == 0) taken_ = 0;
  }

 private:
  static inline std::byte* first_ = nullptr;
  static inline std::size_t bytes_ = 0;
  static inline std::size_t taken_ = 0;
  static inline std::size_t chunks_ = 0;
};

/// The region as Heapwise's pools take it.
class region_blocks final : public heapwise::block_source {
 public:
  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override {
    return chunk_memory::take(size_bytes, alignment);
  }
  void deallocate(void*, std::size_t, std::size_t) noexcept override { chunk_memory::give_back(); }
  [[nodiscard]] std::size_t granularity_bytes() const noexcept override {
    return heapwise::os_blocks().granularity_bytes();
  }
};

inline heapwise::block_source& chunk_source() {
  static region_blocks region;
  return chunk_memory::is_prepared() ? region : heapwise::os_blocks();
}

/// Malloc or the region, as boost::pool takes them.
struct boost_chunks {
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;

  static char* malloc(size_type bytes) noexcept {
    return static_cast<char*>(chunk_memory::is_prepared()
                                  ? chunk_memory::take(bytes, alignof(std::max_align_t))
                                  : std::malloc(bytes));
  }
  static void free(char* chunk) noexcept {
    chunk_memory::is_prepared() ? chunk_memory::give_back() : std::free(chunk);
  }
};

/// Malloc or the region, as foonathan/memory takes them.
struct foonathan_chunks {
  static void* allocate_node(std::size_t bytes, std::size_t alignment) {
    void* const chunk =
        chunk_memory::is_prepared() ? chunk_memory::take(bytes, alignment) : std::malloc(bytes);
    if (chunk == nullptr) throw std::bad_alloc{};
    return chunk;
  }
  static void deallocate_node(void* chunk, std::size_t, std::size_t) noexcept {
    chunk_memory::is_prepared() ? chunk_memory::give_back() : std::free(chunk);
  }
};

/// The region as std::pmr takes it.
class region_resource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const chunk = chunk_memory::take(bytes, alignment);
    if (chunk == nullptr) throw std::bad_alloc{};
    return chunk;
  }
  void do_deallocate(void*, std::size_t, std::size_t) override { chunk_memory::give_back(); }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

inline std::pmr::memory_resource* chunk_resource() {
  static region_resource region;
  return chunk_memory::is_prepared() ? &region : std::pmr::get_default_resource();
}

} // namespace pools
