#include "recorder/process_place.hpp"

#include <fcntl.h>

#include <cstdio>
#include <cstring>

#include "recorder/memory_file.hpp"
#include "recorder/own_filter.hpp"
#include "trace/kernel.hpp"
#include "trace/process_identity.hpp"
#include "trace/stamp.hpp"

namespace heapwise::bench {

namespace {

/// As the drain reads it; 0 if that is not known, as under a filter of the program's own. An
/// emulator (qemu 7.2) writes a /proc/self/stat of its own, in which a forked child began when its
/// parent did.
std::uint64_t own_start_time(const shared_memory& memory) noexcept {
  if (has_own_filter() || own_time_namespace() != memory.time_namespace) return 0;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat",
                static_cast<int>(kernel::process_id()));
  return start_time_of(path);
}

/// Maps the texts of an entry. They keep nothing of a process that had the entry before.
process_place placed(shared_memory& memory, unsigned number) noexcept {
  void* texts = map_behind({&memory, 0}, texts_offset(number), texts_bytes);
  if (texts == nullptr) return {};
  return {number, &memory.processes[number], static_cast<process_texts*>(texts)};
}

void raise_to(std::atomic<std::uint32_t>& least, std::uint32_t wanted) noexcept {
  std::uint32_t now = least.load(std::memory_order_relaxed);
  while (now < wanted && !least.compare_exchange_weak(now, wanted, std::memory_order_release)) {
  }
}

/// Takes the first entry that is free. Returns most_processes if there is none.
unsigned take_entry(shared_memory& memory, std::int32_t own) noexcept {
  for (unsigned number = 0; number < memory.process_room; ++number) {
    std::int32_t free = 0;
    // acquire: with the drain's release, so that nothing of the process before is left.
    if (memory.processes[number].id.compare_exchange_strong(free, own, std::memory_order_acquire)) {
      return number;
    }
  }
  return most_processes;
}

/// That of the process. Under a filter of the program's own, as it was at the last look: then the
/// file of a forked child cannot be asked for.
std::uint64_t known_process_namespace() noexcept {
  static constinit std::uint64_t known = 0;
  if (!has_own_filter()) known = own_process_namespace();
  return known;
}

/// Whether the drain means this process by its number.
bool is_known_to_drain(const shared_memory& memory) noexcept {
  const std::uint64_t here = known_process_namespace();
  return here == 0 || memory.process_namespace == 0 || here == memory.process_namespace;
}

std::size_t read_all(const char* path, char* text, std::size_t room) noexcept {
  const int file = kernel::open(path, O_RDONLY);
  if (file < 0) return 0;
  std::size_t held = 0;
  for (ssize_t got = 1; got > 0 && held < room; held += static_cast<std::size_t>(got)) {
    got = kernel::read(file, text + held, room - held);
    if (got < 0) break;
  }
  kernel::close(file);
  return held;
}

} // namespace

process_place find_process(shared_memory& memory) noexcept {
  static_cast<void>(known_process_namespace()); // while it may be asked for
  const std::int32_t own = kernel::process_id();
  const std::uint64_t began = own_start_time(memory);
  const std::uint32_t used = memory.processes_used.load(std::memory_order_acquire);
  for (unsigned number = 0; number < used && number < most_processes; ++number) {
    const process_entry& each = memory.processes[number];
    if (each.id.load(std::memory_order_acquire) != own) continue;
    const std::uint64_t known = each.start_time.load(std::memory_order_relaxed);
    if (known == began || known == 0 || began == 0) return placed(memory, number);
  }
  return {};
}

process_place take_process(shared_memory& memory, bool is_forked) noexcept {
  if (!is_known_to_drain(memory)) return {};
  constexpr int most_waits = 1000;
  const std::int32_t own = kernel::process_id();
  unsigned number = most_processes;
  for (int wait = 0; wait < most_waits; ++wait) {
    number = take_entry(memory, own);
    if (number != most_processes) break;
    kernel::pause(1'000'000);
  }
  if (number == most_processes) return {};
  process_entry& entry = memory.processes[number];
  const process_place taken = placed(memory, number);
  if (taken.entry == nullptr) {
    entry.id.store(0, std::memory_order_release);
    return {};
  }
  taken.texts->images.clear();
  taken.texts->maps.clear();
  taken.texts->next.process.store(0, std::memory_order_relaxed);
  entry.parent.store(kernel::parent_id(), std::memory_order_relaxed);
  entry.start_time.store(own_start_time(memory), std::memory_order_relaxed);
  entry.first_stamp.store(stamp_now(), std::memory_order_relaxed);
  entry.is_forked.store(is_forked, std::memory_order_relaxed);
  // release: the drain that sees it sees the fields above.
  entry.is_ready.store(true, std::memory_order_release);
  raise_to(memory.processes_used, number + 1);
  return taken;
}

void note_image(process_texts& texts) noexcept {
  char program[image_log::most_image_bytes];
  const ssize_t length = kernel::read_link("/proc/self/exe", program, sizeof program);
  char arguments[image_log::most_image_bytes];
  const std::size_t bytes = read_all("/proc/self/cmdline", arguments, sizeof arguments);
  texts.images.add(
      {{program, length > 0 ? static_cast<std::size_t>(length) : 0}, {arguments, bytes}});
}

void copy_last_image(const process_texts& parent, process_texts& child) noexcept {
  image_log::image last{};
  parent.images.visit([&](const image_log::image& each) { last = each; });
  child.images.add(last);
}

void copy_modules(const process_texts& parent, process_texts& child) noexcept {
  const std::uint64_t loaded = parent.maps.loaded.load(std::memory_order_relaxed);
  // acquire: with the release of the thread of the parent that has written them.
  const std::uint32_t bytes = parent.maps.bytes.load(std::memory_order_acquire);
  std::memcpy(child.maps.text, parent.maps.text, bytes);
  child.maps.loaded.store(loaded, std::memory_order_relaxed);
  // release: the drain that sees their number sees them.
  child.maps.bytes.store(bytes, std::memory_order_release);
}

} // namespace heapwise::bench
