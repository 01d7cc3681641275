// What the library asks of its process.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <new>

#include <linux/capability.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "os/linux/errno_keeper.hpp"
#include "os/linux/system_call.hpp"
#include "os/os.hpp"
#include "os/owner.hpp"

namespace heapwise::os {

std::size_t address_limit_bytes() noexcept {
  constexpr long itself = 0;
  rlimit limit{};
  const system_answer asked = system_call(SYS_prlimit64, itself, RLIMIT_AS, nullptr, &limit);
  return asked.succeeded() && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : SIZE_MAX;
}

namespace {
constinit const char* const* environment_at_load = nullptr;
} // namespace

const char* const* environment() noexcept {
  if (::getauxval(AT_SECURE) != 0) return nullptr;
  return ::environ != nullptr ? ::environ : environment_at_load;
}

void remember_environment(const char* const* environment) noexcept {
  environment_at_load = environment;
}

namespace {

using shared_number = std::atomic<std::uint32_t>;

/// Stands for "the system has no such page".
constinit shared_number no_page{0};

/// A page of which a child gets zeros instead of a copy (Linux 4.14).
constinit std::atomic<shared_number*> page_of_number{nullptr};

constinit shared_number last_number{0};

/// Returns: whether children get zeros for the page.
bool wipe_on_fork(std::byte* page) noexcept {
  // An emulator may agree to all advice, and follow none (qemu 7.2).
  constexpr int no_advice = -1;
  return system_call(SYS_madvise, page, page_bytes(), MADV_WIPEONFORK).succeeded() &&
         !system_call(SYS_madvise, page, page_bytes(), no_advice).succeeded();
}

/// Returns: a page of zeros of which each child with a copy of the memory gets zeros; nullptr if
/// the system cannot make one.
std::byte* map_wiped_page() noexcept {
  auto* const page = static_cast<std::byte*>(map(page_bytes(), page_bytes()));
  if (page == nullptr || wipe_on_fork(page)) return page;
  unmap(page, page_bytes());
  return nullptr;
}

shared_number* make_page_of_number() noexcept {
  std::byte* const page = map_wiped_page();
  const bool is_wiped = page != nullptr;
  // The answer of the first thread holds for all threads, also if it is that there is none.
  auto* const number = is_wiped ? ::new (page) shared_number{0} : &no_page;
  shared_number* seen = nullptr;
  // Release: pairs with memory_number, for the number in the page.
  if (page_of_number.compare_exchange_strong(seen, number, std::memory_order_release,
                                             std::memory_order_acquire)) {
    return number;
  }
  if (page != nullptr) unmap(page, page_bytes());
  return seen;
}

} // namespace

std::uint32_t memory_number() noexcept {
  // Not the number of the process: two processes in different namespaces may have the same.
  // Pairs with the release in make_page_of_number: its number is seen.
  shared_number* page = page_of_number.load(std::memory_order_acquire);
  if (page == nullptr) page = make_page_of_number();
  if (page == &no_page) return static_cast<std::uint32_t>(system_call(SYS_getpid).value());
  // Relaxed: nothing is published with the number.
  std::uint32_t number = page->load(std::memory_order_relaxed);
  if (number != 0) return number;
  const std::uint32_t next = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool is_first = page->compare_exchange_strong(number, next, std::memory_order_relaxed);
  return is_first ? next : number;
}

namespace {

constinit owned_words words_of_all{};
constinit std::atomic<bool> claimed{false};

std::uint32_t process_number() noexcept {
  return static_cast<std::uint32_t>(system_call(SYS_getpid).value());
}

/// Returns: whether the C library knows the calling thread: it gives each of its threads a list of
/// locks. A child of a bare system call has none. True if the system does not tell.
bool has_robust_list() noexcept {
  constexpr long itself = 0;
  void* list = nullptr;
  std::size_t length = 0;
  const system_answer asked = system_call(SYS_get_robust_list, itself, &list, &length);
  return !asked.succeeded() || list != nullptr;
}

} // namespace

constinit std::atomic<owned_words*> the_owned_words{&words_of_all};

void claim_memory() noexcept {
  owned_words* words = the_owned_words.load(std::memory_order_relaxed);
  if (!claimed.exchange(true, std::memory_order_relaxed)) {
    if (std::byte* const page = map_wiped_page()) {
      words = ::new (page) owned_words{};
      // Release: a thread that acquires the pointer sees the words that were made in the page.
      the_owned_words.store(words, std::memory_order_release);
    }
  }
  words->has_robust_list.store(has_robust_list(), std::memory_order_relaxed);
  words->process.store(process_number(), std::memory_order_relaxed);
}

owner owner_of_memory() noexcept {
  // Pairs with the release in claim_memory.
  const owned_words& words = *the_owned_words.load(std::memory_order_acquire);
  const std::uint32_t number = words.process.load(std::memory_order_relaxed);
  if (number == 0) return owner::nobody;
  if (number != process_number()) return owner::other_process;
  // The first processes of two namespaces have the same number.
  const bool is_known = !words.has_robust_list.load(std::memory_order_relaxed);
  return is_known || has_robust_list() ? owner::this_process : owner::other_process;
}

bool is_copy() noexcept {
  // Pairs with the release in claim_memory.
  return claimed.load(std::memory_order_relaxed) &&
         the_owned_words.load(std::memory_order_acquire)->process.load(std::memory_order_relaxed) ==
             0;
}

bool is_alone_in_copy() noexcept { return is_copy() && __libc_single_threaded != 0; }

namespace {

/// Returns: whether the real, effective and saved one of the calling thread, of which the call
/// tells, are the same and not that of root.
bool is_one_and_plain(long call) noexcept {
  std::uint32_t real = 0;
  std::uint32_t effective = 0;
  std::uint32_t saved = 0;
  return system_call(call, &real, &effective, &saved).succeeded() && real != 0 &&
         real == effective && real == saved;
}

/// Returns: whether the calling thread has capabilities. A filter may end a process that asks, so
/// under one nobody asks.
bool has_capabilities() noexcept {
  if (system_call(SYS_prctl, PR_GET_SECCOMP).value() != 0) return false;
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (!system_call(SYS_capget, &header, data).succeeded()) return true;
  return (data[0].permitted | data[1].permitted) != 0;
}

} // namespace

bool may_lose_rights() noexcept {
  return !is_one_and_plain(SYS_getresuid) || !is_one_and_plain(SYS_getresgid) || has_capabilities();
}

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  const errno_keeper keep;
  ::pthread_atfork(before, in_parent, in_child);
}

namespace {

// A key made early has a small number, and its values a place in every thread from the start.
pthread_key_t thread_exit_key;

} // namespace

bool set_thread_exit(void (*action)(void*)) noexcept {
  const errno_keeper keep;
  return ::pthread_key_create(&thread_exit_key, action) == 0;
}

void at_thread_exit(void* argument) noexcept {
  const errno_keeper keep;
  ::pthread_setspecific(thread_exit_key, argument);
}

void write_error(const char* text, std::size_t length) noexcept {
  while (length > 0) {
    const system_answer written = system_call(SYS_write, STDERR_FILENO, text, length);
    if (written.error() == EINTR) continue;
    if (written.value() <= 0) break;
    text += written.value();
    length -= static_cast<std::size_t>(written.value());
  }
}

unsigned long long random_word() noexcept {
  unsigned long long word = 0;
  if (system_call(SYS_getrandom, &word, sizeof word, GRND_NONBLOCK).value() != sizeof word) {
    timespec now{};
    system_call(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    word = static_cast<unsigned long long>(now.tv_nsec) * 0x9E3779B97F4A7C15u ^
           reinterpret_cast<std::uintptr_t>(&word);
  }
  return word;
}

} // namespace heapwise::os
