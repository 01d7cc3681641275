#include "harness/memory/paged_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "harness/cell.hpp"

namespace heapwise::bench {
namespace {

constexpr std::size_t usual_huge_page_bytes = std::size_t{2} << 20; // of x86-64, and of most ARM

struct close_file {
  void operator()(std::FILE* open) const noexcept { std::fclose(open); }
};
using file = std::unique_ptr<std::FILE, close_file>;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

} // namespace

std::size_t huge_page_bytes() noexcept {
  const file from{std::fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "re")};
  unsigned long bytes = 0;
  if (from == nullptr || std::fscanf(from.get(), "%lu", &bytes) != 1) return 0;
  return bytes;
}

resident_pages resident_pages::of(const void* start, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(start);
  const file from{std::fopen("/proc/self/smaps", "re")};
  resident_pages pages;
  bool inside = false;
  char line[512];
  while (from != nullptr && std::fgets(line, sizeof line, from.get()) != nullptr) {
    unsigned long low = 0;
    unsigned long high = 0;
    unsigned long kib = 0;
    if (std::sscanf(line, "%lx-%lx ", &low, &high) == 2) {
      inside = low >= first && high <= first + bytes;
    } else if (inside && std::sscanf(line, "Rss: %lu kB", &kib) == 1) {
      pages.bytes += kib << 10;
    } else if (inside && std::sscanf(line, "AnonHugePages: %lu kB", &kib) == 1) {
      pages.huge_bytes += kib << 10;
    }
  }
  return pages;
}

paged_memory::paged_memory(std::size_t bytes, page_kind kind) : bytes_{bytes} {
  const std::size_t huge = huge_page_bytes();
  if (kind == page_kind::huge && huge == 0) {
    throw refusal{"huge_pages", "this kernel has no transparent huge pages"};
  }
  const std::size_t unit = huge == 0 ? usual_huge_page_bytes : huge;
  bytes_ = round_up(std::max<std::size_t>(bytes, 1), unit);
  map(unit);
  try {
    demand(kind);
  } catch (...) {
    munmap(reserved_, reserved_bytes_);
    throw;
  }
}

paged_memory::~paged_memory() { munmap(reserved_, reserved_bytes_); }

// Between stretches that may not be touched, so that smaps has a line for this mapping alone.
void paged_memory::map(std::size_t alignment) {
  reserved_bytes_ = bytes_ + 2 * alignment;
  reserved_ = mmap(nullptr, reserved_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved_ == MAP_FAILED) throw std::bad_alloc{};
  const auto first = reinterpret_cast<std::uintptr_t>(reserved_) + 1;
  data_ = reinterpret_cast<std::byte*>(round_up(first, alignment));
}

void paged_memory::demand(page_kind kind) const {
  if (mprotect(data_, bytes_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc{};
  const bool huge = kind == page_kind::huge;
  const bool asked = madvise(data_, bytes_, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0;
  if (huge && !asked) throw refusal{"huge_pages", "madvise(MADV_HUGEPAGE) failed"};
  std::memset(data_, 0, bytes_);
  const resident_pages got = resident_pages::of(data_, bytes_);
  if (got.bytes < bytes_) throw refusal{"pages", "/proc/self/smaps does not show them all present"};
  if (huge && got.huge_bytes < bytes_) {
    throw refusal{"huge_pages", "the kernel gave 4 KiB pages instead, as /proc/self/smaps shows"};
  }
  if (!huge && got.huge_bytes != 0) {
    throw refusal{"small_pages", "the kernel gave huge pages all the same"};
  }
}

} // namespace heapwise::bench
