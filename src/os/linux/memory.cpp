#include "os/os.hpp"

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "os/linux/page_calls.hpp"
#include "os/linux/system_call.hpp"

extern "C" {
// There if the program was built with ThreadSanitizer or MemorySanitizer.
[[gnu::weak]] void __tsan_init();
[[gnu::weak]] void __msan_init();
}

namespace heapwise::os {

namespace {

#if defined(HEAPWISE_MTE) && defined(__aarch64__)
constinit int can_be_written = PROT_READ | PROT_WRITE;
#else
constexpr int can_be_written = PROT_READ | PROT_WRITE;
#endif

} // namespace

#if defined(HEAPWISE_MTE) && defined(__aarch64__)

bool allow_tags() noexcept {
  // <sys/prctl.h> and <sys/mman.h> of the C library may be older than the kernel.
  constexpr int set_tagged_addresses = 55;                 // PR_SET_TAGGED_ADDR_CTRL
  constexpr unsigned long enabled = 1;                     // PR_TAGGED_ADDR_ENABLE
  constexpr unsigned long faults_at_once = 2;              // PR_MTE_TCF_SYNC
  constexpr unsigned long all_tags_but_0 = 0xfffeUL << 3U; // PR_MTE_TAG_SHIFT
  constexpr unsigned long has_tags = 1UL << 18U;           // HWCAP2_MTE
  constexpr int tagged = 0x20;                             // PROT_MTE
  if ((::getauxval(AT_HWCAP2) & has_tags) == 0) return false;
  const unsigned long wanted = enabled | faults_at_once | all_tags_but_0;
  if (!system_call(SYS_prctl, set_tagged_addresses, wanted).succeeded()) return false;
  can_be_written |= tagged;
  return true;
}

#else

bool allow_tags() noexcept { return false; }

#endif

#if defined(__x86_64__)

std::size_t page_bytes() noexcept { return 4096; }

#else

std::size_t page_bytes() noexcept {
  // Not a constant of the function: threads may ask at once before the heap has started. Relaxed:
  // all of them write the same.
  static constinit std::atomic<std::size_t> known{0};
  std::size_t size = known.load(std::memory_order_relaxed);
  if (size == 0) {
    size = ::getauxval(AT_PAGESZ);
    known.store(size, std::memory_order_relaxed);
  }
  return size;
}

#endif

namespace {

void* map_aligned(std::size_t size_bytes, std::size_t alignment, int protection,
                  int flags) noexcept {
  const std::size_t slack = alignment <= page_bytes() ? 0 : alignment - page_bytes();
  if (size_bytes > SIZE_MAX - slack) return nullptr;
  std::byte* const memory =
      map_pages(nullptr, size_bytes + slack, protection, MAP_PRIVATE | flags).address();
  if (memory == nullptr || slack == 0) return memory;
  // Cut off what sticks out before and behind the aligned part.
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) & (alignment - 1);
  if (before != 0) unmap_pages(memory, before);
  if (slack != before) unmap_pages(memory + before + size_bytes, slack - before);
  return memory + before;
}

} // namespace

void* map(std::size_t size_bytes, std::size_t alignment) noexcept {
  expects_whole_pages(nullptr, size_bytes);
  return map_aligned(size_bytes, alignment, PROT_READ | PROT_WRITE, 0);
}

bool unmap(void* memory, std::size_t size_bytes) noexcept {
  return unmap_pages(memory, size_bytes).succeeded();
}

void* reserve(std::size_t size_bytes, std::size_t alignment) noexcept {
  return map_aligned(size_bytes, alignment, PROT_NONE, MAP_NORESERVE);
}

namespace {

placed place(void* memory, std::size_t size_bytes, int protection) noexcept {
  const system_answer mapped =
      map_pages(memory, size_bytes, protection, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED_NOREPLACE);
  if (!mapped.succeeded()) {
    return mapped.error() == EEXIST ? placed::occupied : placed::refused;
  }
  if (mapped.address() == memory) return placed::here;
  // Linux before 4.17 takes the address for a wish.
  unmap_pages(mapped.address(), size_bytes);
  return placed::occupied;
}

constexpr std::uintptr_t tib = std::uintptr_t{1} << 40;

// Where the system places nothing by itself. Programs and libraries lie higher: executables from
// two thirds of the addresses on, everything else from the top downwards. If the stack is
// unlimited, mappings go upwards, from a third of the addresses on (a quarter on aarch64); where
// they begin is random in at most 16 TiB (32 TiB). Below lie the shadows of sanitizers, and the
// random addresses that V8 asks for, which are below 64 TiB. At 80 TiB begins the heap of
// AddressSanitizer.
struct zone {
  std::uintptr_t begin;
  std::uintptr_t end;
  // A mapping that begins in the zone cannot be this long: it would reach beyond the highest
  // address.
  std::size_t beyond;
};
#if defined(__x86_64__)
constexpr zone quiet{66 * tib, 80 * tib, 64 * tib}; // of 128 TiB
#elif defined(__aarch64__)
constexpr zone quiet{100 * tib, 116 * tib, 160 * tib}; // of 256 TiB
#else
constexpr zone quiet{0, 0, 0};
#endif

/// Returns: whether the runtime of a sanitizer allows a few addresses only. If such a runtime gets
/// an address that it does not allow, it passes 0 to the system, and the mapping comes elsewhere.
bool addresses_are_restricted() noexcept {
  return __tsan_init != nullptr || __msan_init != nullptr;
}

} // namespace

// Not by `personality`: some filters of system calls end a process that asks. The kernel puts the
// name of the program at the upper end of the first stack, and one address behind it. Where
// addresses are random, the end of that is at one of millions of places.
bool addresses_are_fixed() noexcept {
  const auto* const program = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (program == nullptr) return false;
  const std::uintptr_t stack_end =
      reinterpret_cast<std::uintptr_t>(program) + std::strlen(program) + 1 + sizeof program;
  const bool is_the_last_page = std::has_single_bit(stack_end + page_bytes()); // of x86-64
  return is_the_last_page || std::has_single_bit(stack_end);
}

placed map_at(void* memory, std::size_t size_bytes) noexcept {
  expects_whole_pages(memory, size_bytes);
  return place(memory, size_bytes, can_be_written);
}

void* enlarge(void* memory, std::size_t size_bytes, std::size_t larger_bytes) noexcept {
  expects([=] { return are_whole_pages(memory, larger_bytes) && larger_bytes >= size_bytes; },
          "a mapping grows by whole pages");
  return system_call(SYS_mremap, memory, size_bytes, larger_bytes, MREMAP_MAYMOVE).address();
}

bool extend_mapping(void* end, std::size_t size_bytes) noexcept {
  expects_whole_pages(end, size_bytes);
  // A mapping that grows at its place is not counted (mm/mremap.c, Linux 2.6 to 6.18), while mmap
  // counts before it looks for a mapping to join.
  const std::size_t page = page_bytes();
  return system_call(SYS_mremap, static_cast<std::byte*>(end) - page, page, page + size_bytes, 0)
      .succeeded();
}

placed reserve_at(void* memory, std::size_t size_bytes) noexcept {
  return place(memory, size_bytes, PROT_NONE);
}

void* quiet_addresses(std::size_t size_bytes, std::size_t alignment) noexcept {
  if (quiet.end - quiet.begin < size_bytes || addresses_are_restricted()) return nullptr;
  const std::uintptr_t places = (quiet.end - quiet.begin - size_bytes) / alignment + 1;
  const std::uintptr_t number = addresses_are_fixed() ? 0 : random_word() % places;
  return reinterpret_cast<void*>(quiet.begin + number * alignment); // the begin is aligned
}

bool is_too_much(std::size_t size_bytes) noexcept {
  const system_answer mapped = map_pages(nullptr, size_bytes, can_be_written, MAP_PRIVATE);
  if (mapped.succeeded()) {
    unmap_pages(mapped.address(), size_bytes);
    return false;
  }
  // A process that has as many mappings as it may have gets no page more. It learns nothing here.
  const system_answer page = map_pages(nullptr, page_bytes(), can_be_written, MAP_PRIVATE);
  if (page.succeeded()) unmap_pages(page.address(), page_bytes());
  return page.succeeded();
}

bool show(void* memory, std::size_t size_bytes) noexcept {
  return system_call(SYS_mprotect, memory, size_bytes, PROT_READ).succeeded();
}

bool commit(void* memory, std::size_t size_bytes) noexcept {
  return system_call(SYS_mprotect, memory, size_bytes, can_be_written).succeeded();
}

bool purge(void* memory, std::size_t size_bytes) noexcept {
  const system_answer purged = system_call(SYS_madvise, memory, size_bytes, MADV_DONTNEED);
  if (purged.error() != EINVAL) return purged.succeeded();
  // A part is locked in memory (mlockall). The program has freed it all the same.
  constexpr int also_locked = 24; // MADV_DONTNEED_LOCKED (Linux 5.18), younger than some headers
  return system_call(SYS_madvise, memory, size_bytes, also_locked).succeeded();
}

bool renew(void* memory, std::size_t size_bytes) noexcept {
  return map_pages(memory, size_bytes, can_be_written, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED)
      .succeeded();
}

bool is_mapped(const void* memory, std::size_t size_bytes) noexcept {
  expects_whole_pages(memory, size_bytes);
  // Changes nothing, and fails only at a hole, also where memory is locked.
  return system_call(SYS_madvise, memory, size_bytes, MADV_NORMAL).succeeded();
}

bool is_one_mapping(const void* memory, std::size_t size_bytes) noexcept {
  expects_whole_pages(memory, size_bytes);
  // Asked to grow at its place over half of all addresses, where libraries and stacks are in the
  // way, a mapping is refused for lack of room; several mappings are refused as a bad address.
  const system_answer grown = system_call(SYS_mremap, memory, size_bytes, quiet.beyond, 0);
  return grown.error() == ENOMEM || grown.error() == EAGAIN; // EAGAIN: it is locked in memory
}

bool move_pages(void* from, void* to, std::size_t size_bytes) noexcept {
  expects_whole_pages(from, size_bytes);
  expects_whole_pages(to, size_bytes);
  expects(
      [=] {
        const auto begin = reinterpret_cast<std::uintptr_t>(from);
        const auto target = reinterpret_cast<std::uintptr_t>(to);
        return begin + size_bytes <= target || target + size_bytes <= begin;
      },
      "the two ranges do not overlap");
  // Not with MREMAP_DONTUNMAP, which would leave an empty mapping at the old place: it is refused,
  // after the target was unmapped, if the limit of addresses has come to be below what is in use;
  // and since Linux 6.15 it makes the system lose count of committed memory (strict overcommit).
  return system_call(SYS_mremap, from, size_bytes, size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to)
      .succeeded();
}

} // namespace heapwise::os
