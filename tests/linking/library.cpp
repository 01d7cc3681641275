// One of two libraries that a program is linked with; each has a copy of Heapwise inside.
// LINKING_SIDE is the prefix of its functions.
#include <heapwise/pool.hpp>
#include <heapwise/thread/thread_cached.hpp>

#define LINKING_JOIN(side, name) side##name
#define LINKING_NAME(side, name) LINKING_JOIN(side, name)

using cached = heapwise::pool<heapwise::thread_cached>;

namespace {

/// A pool that has a cache for the thread that makes it.
class probe final : public heapwise::detail::cached_pool {
 public:
  probe() noexcept {
    list();
    entered_ = enter_cache(this);
  }
  ~probe() { unlist(); }
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;

  [[nodiscard]] bool finds_its_cache() const noexcept { return entered_ && find_cache() == this; }

  void retire(void*) noexcept override {}
  void forget_all() noexcept override { table_at_home().forget(*this); }
  void lock_for_fork() noexcept override {}
  void unlock_after_fork() noexcept override {}
  void lose_caches(const heapwise::detail::cache_table*) noexcept override {}

 private:
  bool entered_ = false;
};

} // namespace

extern "C" {
cached* LINKING_NAME(LINKING_SIDE, create)(std::size_t block_count) {
  return new cached{{.block_size = 64, .block_count = block_count}};
}
void LINKING_NAME(LINKING_SIDE, destroy)(cached* blocks) { delete blocks; }
void* LINKING_NAME(LINKING_SIDE, take)(cached* blocks) { return blocks->try_allocate(); }
bool LINKING_NAME(LINKING_SIDE, give)(cached* blocks, void* block) {
  return blocks->deallocate(block);
}
std::size_t LINKING_NAME(LINKING_SIDE, budget)(cached* blocks) { return blocks->budget_bytes(); }
// True if the library finds a cache in the table that its inlined code reads: the short way.
bool LINKING_NAME(LINKING_SIDE, finds)() { return probe{}.finds_its_cache(); }
}
