#include "gc/checks/guards.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "gc/state/required.hpp"
#include "gc/state/state.hpp"
#include "heapwise/detail/config.hpp"
#include "os/collector/world.hpp"

namespace heapwise::gc {

namespace {

/// The last words of a block. None of them is taken for an address of the heap.
struct guard {
  std::uintptr_t bytes;  // that were asked for
  const void* caller;    // code
  std::uintptr_t secret; // differs from block to block
};

constexpr std::size_t least_filled = sizeof(std::uintptr_t);
constexpr unsigned char filling = 0xFD;
constexpr std::uint8_t block_in_use = 1;
constexpr std::uint8_t block_reported = 2; // and in use

guard read_guard(const found_block& block) noexcept {
  guard content{};
  std::memcpy(&content, block.begin + block.bytes - sizeof content, sizeof content);
  return content;
}

/// A number above all addresses of programs.
std::uintptr_t secret_of(const found_block& block) noexcept {
  constexpr std::uintptr_t factor = 0x9E37'79B9'7F4A'7C15;
  constexpr std::uintptr_t top_bit = std::uintptr_t{1} << 63;
  return (reinterpret_cast<std::uintptr_t>(block.begin) * factor) | top_bit;
}

std::size_t most_bytes(const found_block& block) noexcept {
  return block.bytes - sizeof(guard) - least_filled;
}

bool is_guard(const found_block& block, const guard& content) noexcept {
  return content.secret == secret_of(block) && content.bytes <= most_bytes(block);
}

HEAPWISE_READS_ANYTHING bool is_whole(const found_block& block) noexcept {
  const guard content = read_guard(block);
  if (!is_guard(block, content)) return false;
  const std::byte* const begin = block.begin + content.bytes;
  const std::byte* const end = block.begin + block.bytes - sizeof content;
  return std::all_of(begin, end, [](std::byte each) { return each == std::byte{filling}; });
}

damaged_block describe(const found_block& block) noexcept {
  const guard content = read_guard(block);
  return {block.begin, asked_bytes(block), is_guard(block, content) ? content.caller : nullptr};
}

void add_code(detail::text& line, const void* caller) noexcept {
  if (caller == nullptr) return;
  const os::code_place place = os::place_of(caller);
  line.add(", allocated by ");
  if (place.file == nullptr) {
    line.add_address(caller);
  } else {
    line.add(place.file).add("+").add_address(place.offset);
  }
}

void report(const damaged_block& damaged) noexcept {
  heapwise_gc_damage_report* call = nullptr;
  void* argument = nullptr;
  {
    const std::lock_guard hold{the_gc.lock};
    call = the_gc.damage_report;
    argument = the_gc.damage_argument;
    ++the_gc.counted.damaged_blocks;
  }
  if (call != nullptr) {
    call(damaged.block, damaged.bytes, argument);
    return;
  }
  detail::text line;
  line.add("heapwise: written behind its end: a block of ").add(damaged.bytes);
  line.add(" bytes at ").add_address(damaged.block);
  add_code(line, damaged.caller);
  line.add("\n").write();
}

void look_at(const found_block& block) noexcept {
  mark& use = the_gc.memory.uses_of(block.slice)[block.number];
  mark& marked = the_gc.memory.marks_of(block.slice)[block.number];
  const bool lost = marked.load(std::memory_order_relaxed) == 0;
  if (use.load(std::memory_order_relaxed) == block_in_use && !is_whole(block)) {
    use.store(block_reported, std::memory_order_relaxed);
    marked.store(1, std::memory_order_relaxed);             // it is still there when it is reported
    static_cast<void>(the_gc.damaged.add(describe(block))); // without memory: not reported
    the_gc.damage_found.store(true, std::memory_order_relaxed);
  } else if (lost && !the_gc.chosen.find_leaks) {
    use.store(0, std::memory_order_relaxed);
  }
}

/// Returns: whether there was one.
bool take_damaged(damaged_block& into) noexcept {
  const std::lock_guard hold{the_gc.lock};
  if (the_gc.damaged.size() == 0) return false;
  into = the_gc.damaged.last();
  the_gc.damaged.remove_last();
  return true;
}

} // namespace

std::size_t with_guard(std::size_t size_bytes) noexcept {
  return std::min(size_bytes, SIZE_MAX / 2) + least_filled + sizeof(guard);
}

void set_guard(const found_block& block, std::size_t size_bytes, const void* caller) noexcept {
  const guard content{size_bytes, caller, secret_of(block)};
  std::byte* const end = block.begin + block.bytes - sizeof content;
  std::fill(block.begin + size_bytes, end, std::byte{filling});
  std::memcpy(end, &content, sizeof content);
}

std::size_t asked_bytes(const found_block& block) noexcept {
  const guard content = read_guard(block);
  return is_guard(block, content) ? content.bytes : most_bytes(block);
}

std::size_t usable_bytes(const found_block& block) noexcept {
  if (the_gc.chosen.debug) return asked_bytes(block);
  const bool longer = the_gc.chosen.past_end && !is_typed(the_gc.memory.kind_at(block.slice));
  return block.bytes - (longer ? 1 : 0);
}

void add_caller(detail::text& line, const found_block& block) noexcept {
  add_code(line, describe(block).caller);
}

void look_at_guards() noexcept {
  expects_still_world();
  const space& memory = the_gc.memory;
  memory.each_used([&](slice_index slice, kind block_kind) {
    const std::size_t bytes = memory.block_bytes(slice);
    for (std::uint32_t number = 0; number < blocks_of(block_kind); ++number) {
      if (memory.uses_of(slice)[number].load(std::memory_order_relaxed) == 0) continue;
      look_at(block_around(memory.address_of(slice) + number * bytes));
    }
  });
}

void report_damage() noexcept {
  if (!the_gc.damage_found.load(std::memory_order_relaxed)) return;
  the_gc.damage_found.store(false, std::memory_order_relaxed);
  for (damaged_block next; take_damaged(next);) report(next);
}

void report_if_damaged(const found_block& block) noexcept {
  if (!is_whole(block)) report(describe(block));
}

} // namespace heapwise::gc
