#include "drain/rings/rings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "trace/process_identity.hpp"
#include "trace/stamp.hpp"

namespace heapwise::bench {

namespace {

/// For how many processes and threads a file has room.
struct file_room {
  unsigned processes;
  unsigned threads;

  [[nodiscard]] std::size_t bytes() const noexcept {
    return texts_offset(processes) + threads * slot_bytes;
  }
};

/// The limit of file sizes holds for a file in memory, too (setrlimit(2)).
std::size_t most_file_bytes() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur;
}

/// A quarter of what is less than all is for processes.
file_room room_below(std::size_t most_bytes) noexcept {
  const file_room all{most_processes, most_threads};
  if (all.bytes() <= most_bytes) return all;
  const std::size_t processes =
      std::clamp<std::size_t>(most_bytes / 4 / texts_bytes, 1, most_processes);
  const std::size_t used = texts_offset(static_cast<unsigned>(processes));
  const std::size_t threads = most_bytes > used ? (most_bytes - used) / slot_bytes : 0;
  return {static_cast<unsigned>(processes),
          static_cast<unsigned>(std::min<std::size_t>(threads, most_threads))};
}

/// Without a name. If the kernel or a filter of system calls knows no files in memory, one in a
/// file system: in memory, too, where there is one. Returns -1 and the first reason if none can be
/// made.
int memory_file() noexcept {
  const int file = memfd_create("heapwise-record", MFD_CLOEXEC);
  if (file >= 0) return file;
  const int reason = errno;
  for (const char* const folder : {"/dev/shm", "/tmp"}) {
    const int other = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (other >= 0) return other;
  }
  errno = reason;
  return -1;
}

} // namespace

rings::rings(std::uint32_t stack_every)
    : rings_(most_threads), readers_(most_threads), slots_(most_processes) {
  file_ = memory_file();
  if (file_ < 0) return;
  const file_room room = room_below(most_file_bytes());
  if (room.threads == 0) errno = EFBIG;
  if (room.threads == 0 || ftruncate(file_, static_cast<off_t>(room.bytes())) != 0) return;
  void* mapping = mmap(nullptr, control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapping == MAP_FAILED) return;
  memory_ = static_cast<shared_memory*>(mapping);
  memory_->magic = shared_magic;
  memory_->process_room = room.processes;
  memory_->thread_room = room.threads;
  memory_->stack_every = stack_every;
  memory_->process_namespace = own_process_namespace();
  memory_->time_namespace = own_time_namespace();
  memory_->drain.store(getpid(), std::memory_order_relaxed);
}

rings::~rings() {
  if (file_ >= 0) close(file_);
}

std::uint32_t rings::slots_used() const noexcept {
  return std::min<std::uint32_t>(memory_->slots_used.load(std::memory_order_acquire), most_threads);
}

const event* rings::ring_of(unsigned slot) {
  if (rings_[slot] == nullptr) {
    void* mapping = mmap(nullptr, ring_bytes, PROT_READ, MAP_SHARED, file_,
                         static_cast<off_t>(slot_offset(*memory_, slot) + page_bytes));
    if (mapping == MAP_FAILED) return nullptr;
    rings_[slot] = static_cast<const event*>(mapping);
  }
  return rings_[slot];
}

const process_texts* rings::map_texts(unsigned process) const noexcept {
  void* mapping = mmap(nullptr, texts_bytes, PROT_READ, MAP_SHARED, file_,
                       static_cast<off_t>(texts_offset(process)));
  return mapping != MAP_FAILED ? static_cast<const process_texts*>(mapping) : nullptr;
}

void rings::unmap_texts(const process_texts* texts) noexcept {
  munmap(const_cast<process_texts*>(texts), texts_bytes);
}

void rings::look() {
  looked_at_ = stamp_now();
  has_left_much_ = false;
  for (const std::uint32_t process : found_) slots_[process].clear();
  found_.clear();
  for (unsigned slot = 0; slot < slots_used(); ++slot) {
    const thread_slot& each = memory_->slots[slot];
    // acquire: with the writer's release, so that its events and its process are there.
    const std::uint64_t end = each.written.load(std::memory_order_acquire);
    if (each.read.load(std::memory_order_relaxed) == end && !readers_[slot].has_next()) continue;
    const std::uint32_t process = each.process.load(std::memory_order_relaxed);
    if (process == no_process || process > most_processes) continue;
    if (slots_[process - 1].empty()) found_.push_back(process - 1);
    slots_[process - 1].push_back(slot);
  }
}

/// Looks at all rings of the process. Returns whether one of them is half full.
bool rings::find_runs(unsigned process, call_tables& tables) {
  runs_.clear();
  bool is_urgent = false;
  for (const unsigned slot : slots_[process]) {
    thread_slot& each = memory_->slots[slot];
    ring_reader& reader = readers_[slot];
    // acquire: with the writer's release, so that the events up to this number are there.
    const std::uint64_t at = each.read.load(std::memory_order_relaxed);
    // Never before what was read: a search up to there would not end.
    const std::uint64_t end = std::max(each.written.load(std::memory_order_acquire), at);
    if (end - at >= ring_events / 2) is_urgent = true;
    if (!reader.has_begun()) {
      const event* ring = ring_of(slot);
      if (ring == nullptr) continue;
      reader.begin(ring, tables.threads++);
    }
    if (!reader.has_next()) reader.advance(end, tables.sites);
    ring_run run{&reader, &each, end, 0};
    run.publish();
    if (reader.has_next()) runs_.push_back(run);
  }
  return is_urgent;
}

/// Returns false if no ring has a call up to `last_order`.
bool rings::order_runs(std::uint64_t last_order) {
  orders_.clear();
  std::uint64_t least = loser_tree::no_order;
  for (const ring_run& each : runs_) {
    orders_.push_back(each.reader->next_order());
    least = std::min(least, orders_.back());
  }
  if (least == loser_tree::no_order || least > last_order) return false;
  tree_.build(orders_, least);
  return true;
}

void rings::reclaim(const std::function<bool(unsigned, std::int32_t)>& is_gone) {
  for (unsigned number = 0; number < slots_used(); ++number) {
    thread_slot& slot = memory_->slots[number];
    const slot_state state = slot.state.load(std::memory_order_acquire);
    if (state == slot_state::free) continue;
    const std::int32_t thread = slot.kernel_id.load(std::memory_order_relaxed);
    const std::uint32_t process = slot.process.load(std::memory_order_relaxed);
    // A thread may be about to say whose slot it is.
    if (process == no_process) continue;
    if (state == slot_state::live && !is_gone(process - 1, thread)) continue;
    if (readers_[number].has_next() ||
        slot.written.load(std::memory_order_acquire) != slot.read.load(std::memory_order_relaxed)) {
      continue;
    }
    slot.kernel_id.store(0, std::memory_order_relaxed);
    slot.process.store(no_process, std::memory_order_relaxed);
    slot.written.store(0, std::memory_order_relaxed);
    slot.read.store(0, std::memory_order_relaxed);
    readers_[number].leave();
    // release: with the acquire of the thread that takes the slot next.
    slot.state.store(slot_state::free, std::memory_order_release);
  }
}

} // namespace heapwise::bench
