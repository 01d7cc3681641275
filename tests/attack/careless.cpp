// A malloc that checks nothing: last freed, first reused, links in the open. Under it every attack
// must go through, or the attack attacks nothing.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace {

constexpr std::size_t arena_bytes = std::size_t{1} << 30;
constexpr unsigned kinds = 30;
alignas(4096) char arena[arena_bytes];
std::size_t used = 0;
void* heads[kinds];
std::mutex all;

struct header {
  std::size_t kind;
  std::size_t unused;
};

header& header_of(void* block) { return static_cast<header*>(block)[-1]; }

bool is_ours(void* block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const auto begin = reinterpret_cast<std::uintptr_t>(arena);
  return address % 16 == 0 && address > begin && address < begin + used &&
         header_of(block).kind < kinds;
}

unsigned kind_of(std::size_t size) {
  unsigned kind = 4;
  while ((std::size_t{1} << kind) < size) ++kind;
  return kind;
}

void* fresh(std::size_t bytes, std::size_t alignment) {
  const auto begin = reinterpret_cast<std::uintptr_t>(arena);
  const std::uintptr_t at =
      (begin + used + sizeof(header) + alignment - 1) / alignment * alignment - begin;
  if (at + bytes > arena_bytes) return nullptr;
  used = at + bytes;
  return arena + at;
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (size > arena_bytes / 2) {
    errno = ENOMEM;
    return nullptr;
  }
  const std::lock_guard guard(all);
  const unsigned kind = kind_of(size);
  if (heads[kind] != nullptr && alignment <= 16) {
    void* const block = heads[kind];
    std::memcpy(&heads[kind], block, sizeof(void*));
    return block;
  }
  void* const block = fresh(std::size_t{1} << kind, alignment);
  if (block != nullptr) header_of(block).kind = kind;
  return block;
}

} // namespace

extern "C" {

void* malloc(std::size_t size) { return allocate(size, 16); }

void free(void* block) {
  if (!is_ours(block)) return;
  const std::lock_guard guard(all);
  void*& head = heads[header_of(block).kind];
  std::memcpy(block, &head, sizeof head);
  head = block;
}

void* calloc(std::size_t count, std::size_t size) {
  void* const block = allocate(count * size, 16);
  return block == nullptr ? nullptr : std::memset(block, 0, count * size);
}

void* realloc(void* block, std::size_t size) {
  void* const new_block = allocate(size, 16);
  if (new_block == nullptr || block == nullptr) return new_block;
  const std::size_t old = std::size_t{1} << header_of(block).kind;
  std::memcpy(new_block, block, old < size ? old : size);
  free(block);
  return new_block;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return allocate(size, alignment); }

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = allocate(size, alignment);
  return *block == nullptr ? ENOMEM : 0;
}

std::size_t malloc_usable_size(void* block) {
  return block == nullptr ? 0 : std::size_t{1} << header_of(block).kind;
}
}
