#include <heapwise/pool.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>

#include <heapwise/observe/instrumented.hpp>
#include <heapwise/pool.hpp>
#include <heapwise/thread/lock_free.hpp>
#include <heapwise/thread/locked.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <heapwise/thread/unsynchronized.hpp>

#include "os/expects.hpp"

/// What C sees as one type: any policy, checked or not, counted or not.
struct heapwise_pool {
  heapwise_pool() = default;
  heapwise_pool(const heapwise_pool&) = delete;
  heapwise_pool& operator=(const heapwise_pool&) = delete;
  virtual ~heapwise_pool() = default;
  virtual void* allocate() noexcept = 0;
  virtual bool deallocate(void* block) noexcept = 0;
  [[nodiscard]] virtual bool contains(const void* address) const noexcept = 0;
  virtual std::size_t allocate_many(void** blocks, std::size_t count) noexcept = 0;
  virtual std::size_t deallocate_many(void* const* blocks, std::size_t count) noexcept = 0;
  virtual bool for_each(void (*visit)(void* block, void* context), void* context) = 0;
  virtual bool shrink() noexcept = 0;
  virtual void reset() noexcept = 0;
  [[nodiscard]] virtual std::size_t cached_blocks_max() const noexcept = 0;
  [[nodiscard]] virtual heapwise_pool_stats stats() const noexcept = 0;
};

namespace {

using namespace heapwise;

template <class Pool>
concept counting = requires(const Pool& blocks) { blocks.counts(); };

void add_counts(heapwise_pool_stats& to, const pool_counts& counts) noexcept {
  to.allocations = counts.allocations;
  to.frees = counts.frees;
  to.refused_frees = counts.refused_frees;
  to.failed_allocations = counts.failed_allocations;
  to.live = counts.live;
  to.peak = counts.peak;
}

template <class Pool>
class pool_of final : public heapwise_pool {
 public:
  explicit pool_of(const pool_options& options) : blocks_{options} {}

  void* allocate() noexcept override { return blocks_.try_allocate(); }
  bool deallocate(void* block) noexcept override { return blocks_.deallocate(block); }
  [[nodiscard]] bool contains(const void* address) const noexcept override {
    return blocks_.contains(address);
  }
  std::size_t allocate_many(void** blocks, std::size_t count) noexcept override {
    return blocks_.try_allocate_many({blocks, count});
  }
  std::size_t deallocate_many(void* const* blocks, std::size_t count) noexcept override {
    return blocks_.deallocate_many({blocks, count});
  }
  bool for_each(void (*visit)(void* block, void* context), void* context) override {
    return blocks_.for_each([&](void* block) { visit(block, context); });
  }
  bool shrink() noexcept override { return blocks_.shrink(); }
  void reset() noexcept override { blocks_.reset(); }
  [[nodiscard]] std::size_t cached_blocks_max() const noexcept override {
    return blocks_.cached_blocks_max();
  }

  [[nodiscard]] heapwise_pool_stats stats() const noexcept override {
    heapwise_pool_stats all{};
    all.block_size = blocks_.block_size();
    all.stride_bytes = blocks_.stride_bytes();
    all.alignment = blocks_.alignment();
    all.capacity = blocks_.capacity();
    all.chunk_count = blocks_.chunk_count();
    all.reserved_bytes = blocks_.reserved_bytes();
    all.budget_bytes = blocks_.budget_bytes() + sizeof(*this) - sizeof(blocks_);
    if constexpr (counting<Pool>) add_counts(all, blocks_.counts());
    return all;
  }

 private:
  Pool blocks_;
};

using maker = heapwise_pool* (*)(const pool_options&);

template <class Pool>
heapwise_pool* make(const pool_options& options) {
  return new pool_of<Pool>{options};
}

/// The four pools of a policy: the index is checked + 2 * counted.
template <class Policy>
constexpr std::array<maker, 4> makers{
    make<pool<Policy, foreign_checked>>, make<pool<Policy, checked>>,
    make<instrumented<pool<Policy, foreign_checked>>>, make<instrumented<pool<Policy, checked>>>};

struct policy_entry {
  const char* name;
  const std::array<maker, 4>* makers;
};

/// In the order of heapwise_policy.
constexpr std::array<policy_entry, 4> policies{{{unsynchronized::name, &makers<unsynchronized>},
                                                {locked::name, &makers<locked>},
                                                {lock_free::name, &makers<lock_free>},
                                                {thread_cached::name, &makers<thread_cached>}}};

const policy_entry* entry_of(int policy) noexcept {
  const auto index = static_cast<std::size_t>(policy);
  return index < policies.size() ? &policies[index] : nullptr;
}

/// Of this thread's last create.
struct last_error {
  heapwise_error code;
  std::array<char, 96> text;
};
thread_local constinit last_error last{};

void remember(heapwise_error code, const char* text) noexcept {
  last.code = code;
  const std::size_t length = std::min(std::strlen(text), last.text.size() - 1);
  std::memcpy(last.text.data(), text, length);
  last.text[length] = '\0';
}

heapwise_pool* fail(heapwise_error code, int error_number, const char* text) noexcept {
  remember(code, text);
  errno = error_number;
  return nullptr;
}

heapwise_pool* invalid(const char* text) noexcept {
  return fail(HEAPWISE_ERROR_INVALID, EINVAL, text);
}

/// Every version of the structures has these members.
constexpr std::size_t least_options_bytes = offsetof(heapwise_pool_options, alignment);
constexpr std::size_t least_stats_bytes = offsetof(heapwise_pool_stats, stride_bytes);

/// Returns: false for a size that no version has: a structure that was not initialized.
bool is_struct_size(std::size_t size_bytes, std::size_t least_bytes) noexcept {
  constexpr std::size_t most_bytes = 4096;
  return size_bytes >= least_bytes && size_bytes <= most_bytes;
}

/// Reads the caller's version of the options, of which later members may be missing or unknown.
/// Returns: false if an unknown one is set.
bool read_options(const heapwise_pool_options* from, heapwise_pool_options& to) noexcept {
  const std::size_t size_bytes = from->struct_size;
  std::memcpy(&to, from, std::min(size_bytes, sizeof to));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(from);
  const bool unknown_is_set =
      size_bytes > sizeof to && std::any_of(bytes + sizeof to, bytes + size_bytes,
                                            [](unsigned char each) { return each != 0; });
  return !unknown_is_set && to.reserved == 0;
}

/// In the order of heapwise_growth.
constexpr std::array growths{growth::fixed, growth::geometric, growth::linear};

/// Requires: the growth is a heapwise_growth.
pool_options options_of(const heapwise_pool_options& from) noexcept {
  expects(static_cast<std::size_t>(from.growth) < growths.size(), "the growth is known");
  return {.block_size = from.block_size,
          .block_count = from.block_count,
          .alignment = from.alignment,
          .growth = growths[static_cast<std::size_t>(from.growth)],
          .max_block_count = from.max_block_count,
          .growth_step = from.growth_step};
}

} // namespace

heapwise_pool* heapwise_pool_create(const heapwise_pool_options* options, int policy) {
  if (options == nullptr) return invalid("pool: options is NULL");
  if (!is_struct_size(options->struct_size, least_options_bytes)) {
    return invalid("pool: struct_size makes no sense; start from HEAPWISE_POOL_OPTIONS_INIT");
  }
  heapwise_pool_options known{};
  if (!read_options(options, known)) {
    return invalid("pool: an option is set that this library does not know");
  }
  const policy_entry* const entry = entry_of(policy);
  if (entry == nullptr) return invalid("pool: unknown policy");
  if (static_cast<std::size_t>(known.growth) >= growths.size()) {
    return invalid("pool: unknown growth");
  }
  const unsigned kind = (known.checked != 0 ? 1u : 0u) + (known.counted != 0 ? 2u : 0u);
  try {
    heapwise_pool* const new_pool = (*entry->makers)[kind](options_of(known));
    remember(HEAPWISE_OK, "");
    return new_pool;
  } catch (const std::invalid_argument& error) {
    return invalid(error.what());
  } catch (const std::length_error& error) {
    return fail(HEAPWISE_ERROR_TOO_LARGE, EOVERFLOW, error.what());
  } catch (...) {
    return fail(HEAPWISE_ERROR_NO_MEMORY, ENOMEM, "pool: no memory for the first chunk");
  }
}

void heapwise_pool_destroy(heapwise_pool* pool) { delete pool; }

void* heapwise_pool_allocate(heapwise_pool* pool) {
  if (pool == nullptr) {
    errno = EINVAL;
    return nullptr;
  }
  void* const block = pool->allocate();
  if (block == nullptr) errno = ENOMEM;
  return block;
}

int heapwise_pool_deallocate(heapwise_pool* pool, void* block) {
  if (pool == nullptr) return HEAPWISE_ERROR_INVALID;
  return pool->deallocate(block) ? HEAPWISE_OK : HEAPWISE_ERROR_FOREIGN;
}

size_t heapwise_pool_allocate_many(heapwise_pool* pool, void** blocks, size_t count) {
  return pool == nullptr || blocks == nullptr ? 0 : pool->allocate_many(blocks, count);
}

size_t heapwise_pool_deallocate_many(heapwise_pool* pool, void* const* blocks, size_t count) {
  return pool == nullptr || blocks == nullptr ? 0 : pool->deallocate_many(blocks, count);
}

int heapwise_pool_for_each(heapwise_pool* pool, void (*visit)(void* block, void* context),
                           void* context) {
  if (pool == nullptr || visit == nullptr) return HEAPWISE_ERROR_INVALID;
  return pool->for_each(visit, context) ? HEAPWISE_OK : HEAPWISE_ERROR_NO_MEMORY;
}

int heapwise_pool_shrink(heapwise_pool* pool) {
  if (pool == nullptr) return HEAPWISE_ERROR_INVALID;
  return pool->shrink() ? HEAPWISE_OK : HEAPWISE_ERROR_NO_MEMORY;
}

int heapwise_pool_contains(const heapwise_pool* pool, const void* address) {
  return pool != nullptr && pool->contains(address) ? 1 : 0;
}

void heapwise_pool_reset(heapwise_pool* pool) {
  if (pool != nullptr) pool->reset();
}

int heapwise_pool_get_stats(const heapwise_pool* pool, heapwise_pool_stats* stats) {
  if (pool == nullptr || stats == nullptr) return HEAPWISE_ERROR_INVALID;
  const std::size_t size_bytes = stats->struct_size;
  if (!is_struct_size(size_bytes, least_stats_bytes)) return HEAPWISE_ERROR_INVALID;
  heapwise_pool_stats all = pool->stats();
  all.struct_size = size_bytes;
  auto* const bytes = reinterpret_cast<unsigned char*>(stats);
  const std::size_t known_bytes = std::min(size_bytes, sizeof all);
  std::memcpy(bytes, &all, known_bytes);
  std::fill(bytes + known_bytes, bytes + size_bytes, static_cast<unsigned char>(0));
  return HEAPWISE_OK;
}

namespace {

std::size_t stat_of(const heapwise_pool* pool, std::size_t heapwise_pool_stats::* which) noexcept {
  return pool == nullptr ? 0 : pool->stats().*which;
}

} // namespace

size_t heapwise_pool_block_size(const heapwise_pool* pool) {
  return stat_of(pool, &heapwise_pool_stats::block_size);
}
size_t heapwise_pool_stride_bytes(const heapwise_pool* pool) {
  return stat_of(pool, &heapwise_pool_stats::stride_bytes);
}
size_t heapwise_pool_alignment(const heapwise_pool* pool) {
  return stat_of(pool, &heapwise_pool_stats::alignment);
}
size_t heapwise_pool_capacity(const heapwise_pool* pool) {
  return stat_of(pool, &heapwise_pool_stats::capacity);
}
size_t heapwise_pool_chunk_count(const heapwise_pool* pool) {
  return stat_of(pool, &heapwise_pool_stats::chunk_count);
}
size_t heapwise_pool_reserved_bytes(const heapwise_pool* pool) {
  return stat_of(pool, &heapwise_pool_stats::reserved_bytes);
}
size_t heapwise_pool_budget_bytes(const heapwise_pool* pool) {
  return stat_of(pool, &heapwise_pool_stats::budget_bytes);
}

size_t heapwise_pool_cached_blocks_max(const heapwise_pool* pool) {
  return pool == nullptr ? 0 : pool->cached_blocks_max();
}

heapwise_error heapwise_last_error(void) { return last.code; }

const char* heapwise_last_error_message(void) { return last.text.data(); }

const char* heapwise_error_message(int error) {
  switch (error) {
    case HEAPWISE_OK:
      return "no error";
    case HEAPWISE_ERROR_INVALID:
      return "an argument makes no sense";
    case HEAPWISE_ERROR_TOO_LARGE:
      return "the sizes are too large";
    case HEAPWISE_ERROR_NO_MEMORY:
      return "no memory";
    case HEAPWISE_ERROR_FOREIGN:
      return "the pointer is not a block of this pool";
    default:
      return "unknown error";
  }
}

const char* heapwise_policy_name(int policy) {
  const policy_entry* const entry = entry_of(policy);
  return entry == nullptr ? "unknown" : entry->name;
}
