// One of two libraries that a program is linked with; each has a copy of Heapwise inside.
// LINKING_NAME is the name of its function.
#include "library.hpp"

#include <heapwise/pool.hpp>
#include <heapwise/thread/thread_cached.hpp>

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

cached& pool_at(void* blocks) { return *static_cast<cached*>(blocks); }

} // namespace

library LINKING_NAME() {
  return {
      .create = [](std::size_t block_count) -> void* {
        return new cached{{.block_size = 64, .block_count = block_count}};
      },
      .destroy = [](void* blocks) { delete &pool_at(blocks); },
      .take = [](void* blocks) { return pool_at(blocks).try_allocate(); },
      .give = [](void* blocks, void* block) { return pool_at(blocks).deallocate(block); },
      .budget = [](void* blocks) { return pool_at(blocks).budget_bytes(); },
      .finds = [] { return probe{}.finds_its_cache(); },
  };
}
