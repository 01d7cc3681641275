#include "gc/collect/copy_report.hpp"

#include <cstring>
#include <new>

#include "gc/attachments/weak.hpp"
#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "os/collector/copies.hpp"
#include "os/os.hpp"

namespace heapwise::gc {

namespace {

/// Returns: a bit for each of eight bytes, which are 0 or 1.
std::uint8_t pack(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t to_the_top = 0x0102'0408'1020'4080; // bit 8i to bit 56 + i
  return static_cast<std::uint8_t>(bytes * to_the_top >> 56);
}

/// Cuts one range of memory into parts.
class cutter {
 public:
  template <class Item>
  Item* cut(std::size_t count) noexcept {
    constexpr std::size_t line = 64;
    auto* const part = reinterpret_cast<Item*>(begin_ + used_bytes_);
    used_bytes_ += (count * sizeof(Item) + line - 1) / line * line;
    return part;
  }
  void begin_at(void* memory) noexcept {
    begin_ = reinterpret_cast<std::uintptr_t>(memory);
    used_bytes_ = 0;
  }
  [[nodiscard]] std::size_t used_bytes() const noexcept { return used_bytes_; }

 private:
  std::uintptr_t begin_ = 0; // 0: it is only measured how much is needed
  std::size_t used_bytes_ = 0;
};

std::size_t most_ready() noexcept { return the_gc.attached.of_blocks.size(); }

copy_report* lay_out(cutter& parts) noexcept {
  auto* const report = parts.cut<copy_report>(1);
  auto** const empty = parts.cut<weak_target*>(most_targets());
  void** const ready = parts.cut<void*>(most_ready());
  auto* const reached = parts.cut<std::uint8_t>(the_gc.memory.top() * reached_of_slice);
  auto* const marked = parts.cut<std::uint16_t>(the_gc.memory.top());
  if (report == nullptr) return nullptr;
  return ::new (static_cast<void*>(report))
      copy_report{false, false, 0, empty, 0, ready, 0, reached, marked};
}

} // namespace

copy_report* make_report(std::size_t& shared_bytes) noexcept {
  expects_lock();
  cutter parts;
  static_cast<void>(lay_out(parts));
  const std::size_t page = os::page_bytes();
  shared_bytes = (parts.used_bytes() + page - 1) / page * page;
  void* const memory = os::map_shared(shared_bytes);
  if (memory == nullptr) return nullptr;
  parts.begin_at(memory);
  return lay_out(parts);
}

void write_reached(const mark* marks, copy_report& into) noexcept {
  for (slice_index slice = space::first_slice; slice < the_gc.memory.top(); ++slice) {
    const mark* const there = marks + std::size_t{slice} * marks_of_slice;
    std::uint8_t* const reached_there = into.reached + slice * reached_of_slice;
    std::uint32_t marked = 0;
    for (std::size_t group = 0; group < reached_of_slice; ++group) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, static_cast<const void*>(there + 8 * group), sizeof eight);
      if (eight == 0) continue;
      reached_there[group] = pack(eight);
      marked += sum_of_bytes(eight);
    }
    if (marked != 0) into.marked[slice] = static_cast<std::uint16_t>(marked);
  }
}

void unmap_report() noexcept {
  expects_lock();
  expects(the_gc.copy.report != nullptr, "there is a report");
  marking_copy& copy = the_gc.copy;
  os::unmap(copy.report, copy.shared_bytes);
  copy.report = nullptr;
  copy.number = os::no_copy;
  copy.read.clear();
  copy.read_more = false;
}

} // namespace heapwise::gc
