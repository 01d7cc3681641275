#include "faulty/system.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <thread>

#include "os/os.hpp"

namespace os = heapwise::os;

namespace faulty {
fault_plan plan;
} // namespace faulty

using faulty::plan;

// The linker sends the heap's calls of the system here (--wrap), and ours to the system.
void* real_map(std::size_t, std::size_t) noexcept __asm__("__real__ZN8heapwise2os3mapEmm");
bool real_unmap(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os5unmapEPvm");
void* real_reserve(std::size_t, std::size_t) noexcept __asm__("__real__ZN8heapwise2os7reserveEmm");
os::placed real_map_at(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os6map_atEPvm");
bool real_extend(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os14extend_mappingEPvm");
os::placed real_reserve_at(void*, std::size_t) noexcept
    __asm__("__real__ZN8heapwise2os10reserve_atEPvm");
bool real_commit(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os6commitEPvm");
bool real_purge(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os5purgeEPvm");
bool real_renew(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os5renewEPvm");
bool real_move(void*, void*, std::size_t) noexcept
    __asm__("__real__ZN8heapwise2os10move_pagesEPvS1_m");
bool real_is_one(const void*, std::size_t) noexcept
    __asm__("__real__ZN8heapwise2os14is_one_mappingEPKvm");
bool real_start(void (*)(), const void*) noexcept
    __asm__("__real__ZN8heapwise2os17start_bare_threadEPFvvEPKv");
std::size_t real_page_bytes() noexcept __asm__("__real__ZN8heapwise2os10page_bytesEv");

void* fake_map(std::size_t, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os3mapEmm");
bool fake_unmap(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os5unmapEPvm");
void* fake_reserve(std::size_t, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os7reserveEmm");
os::placed fake_map_at(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os6map_atEPvm");
bool fake_extend(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os14extend_mappingEPvm");
os::placed fake_reserve_at(void*, std::size_t) noexcept
    __asm__("__wrap__ZN8heapwise2os10reserve_atEPvm");
bool fake_commit(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os6commitEPvm");
bool fake_purge(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os5purgeEPvm");
bool fake_renew(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os5renewEPvm");
bool fake_move(void*, void*, std::size_t) noexcept
    __asm__("__wrap__ZN8heapwise2os10move_pagesEPvS1_m");
bool fake_is_one(const void*, std::size_t) noexcept
    __asm__("__wrap__ZN8heapwise2os14is_one_mappingEPKvm");
bool fake_start(void (*)(), const void*) noexcept
    __asm__("__wrap__ZN8heapwise2os17start_bare_threadEPFvvEPKv");
std::size_t fake_page_bytes() noexcept __asm__("__wrap__ZN8heapwise2os10page_bytesEv");

namespace {

/// Ends the process where a call is not made of whole pages of the size that we pretend.
void expect_pages(const void* at, std::size_t size) noexcept {
  const std::size_t page = fake_page_bytes();
  if (size % page == 0 && reinterpret_cast<std::uintptr_t>(at) % page == 0) return;
  static constexpr char line[] = "not whole pages\n";
  [[maybe_unused]] const auto written = ::write(2, line, sizeof line - 1);
  ::_exit(3);
}

/// What a start of the heap that another thread forks beside waits for.
void wait_for_fork() {
  if (!plan.fork_during_start || plan.is_starting) return;
  plan.is_starting = true;
  while (!plan.is_forking) std::this_thread::yield();
  ::usleep(50'000); // enough for a fork that does not wait
}

} // namespace

void* fake_map(std::size_t size, std::size_t alignment) noexcept {
  expect_pages(nullptr, size);
  return plan.next_fails() ? nullptr : real_map(size, std::max(alignment, fake_page_bytes()));
}
bool fake_unmap(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  return !plan.refuse_unmaps && real_unmap(at, size);
}
void* fake_reserve(std::size_t size, std::size_t alignment) noexcept {
  expect_pages(nullptr, size);
  wait_for_fork();
  return plan.next_fails() ? nullptr : real_reserve(size, std::max(alignment, fake_page_bytes()));
}
os::placed fake_map_at(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  if (plan.spoil_places) return os::placed::refused;
  if (plan.refuse_mappings) return os::placed::refused; // Linux counts before it looks at the place
  return plan.next_fails() ? os::placed::refused : real_map_at(at, size);
}
bool fake_extend(void* end, std::size_t size) noexcept {
  expect_pages(end, size);
  return !plan.spoil_places && !plan.next_fails() && real_extend(end, size);
}
os::placed fake_reserve_at(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  wait_for_fork();
  return plan.next_fails() ? os::placed::refused : real_reserve_at(at, size);
}
bool fake_commit(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  return !plan.next_fails() && real_commit(at, size);
}
bool fake_purge(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  ++plan.purges;
  if (plan.refuse_purges) return false;
  return !plan.next_fails() && real_purge(at, size);
}

// The system may unmap a place before it finds that it cannot put anything there.
bool fake_renew(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  if (plan.refuse_mappings) return false;
  if (plan.spoil_places) {
    os::unmap(at, size);
    return false;
  }
  if (!plan.next_fails()) return real_renew(at, size);
  if (plan.calls % 2 == 0) os::unmap(at, size);
  return false;
}
bool fake_move(void* from, void* to, std::size_t size) noexcept {
  expect_pages(from, size);
  expect_pages(to, size);
  if (plan.refuse_mappings) return false;
  if (plan.spoil_places) {
    os::unmap(to, size);
    return false;
  }
  const bool fails = plan.next_fails();
  // As Linux up to 6.16 does it, also if the source is several mappings.
  if (!fails && real_is_one(from, size)) return real_move(from, to, size);
  if (!fails || plan.calls % 2 == 0) os::unmap(to, size);
  return false;
}
bool fake_is_one(const void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  return !plan.next_fails() && real_is_one(at, size);
}
bool fake_start(void (*body)(), const void* variable) noexcept {
  if (plan.threads_to_refuse > 0) {
    --plan.threads_to_refuse;
    return false;
  }
  return !plan.next_fails() && real_start(body, variable);
}
std::size_t fake_page_bytes() noexcept {
  const std::size_t pretended = plan.page_bytes;
  return pretended != 0 ? pretended : real_page_bytes();
}
