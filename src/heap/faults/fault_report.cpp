#include "heap/faults/fault_report.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "heap/base/profile.hpp"
#include "heap/checks/call_sites.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/checks/span_guard.hpp"
#include "heap/large/large_blocks.hpp"
#include "heap/space/space.hpp"
#include "options/text.hpp"
#include "os/reports/mapped_files.hpp"

namespace heapwise::detail {

namespace {

constexpr std::array<std::string_view, 10> names = {
    "foreign",    "misaligned", "inside-block",       "double-free",    "no-block",
    "wrong-size", "overrun",    "written-after-free", "use-after-free", "out-of-bounds",
};

std::string_view name_of(invalid kind) noexcept { return names[static_cast<std::size_t>(kind)]; }

/// Effects: finds the block of the heap around the address.
void find_block(fault_report& fault) noexcept {
  if (!the_space.holds(fault.address)) return;
  if (const span* const large = large_block_around(fault.address)) {
    fault.block = the_space.begin_of(*large);
    fault.bytes = large->large.usable_bytes;
    return;
  }
  const span* const home = the_space.find_span(fault.address);
  if (home == nullptr) return;
  // Acquire: as in look_up. The class was written before.
  const slice_use use = home->use.load(std::memory_order_acquire);
  std::byte* const begin = the_space.begin_of(*home);
  const bool is_small = use == slice_use::small || use == slice_use::owned;
  if (is_small && home->class_index != no_class && home->class_index <= class_count) {
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(fault.address) - begin);
    const std::size_t bytes = class_table[home->class_index].bytes;
    // What is behind the last block is told as its overrun.
    const std::size_t last = blocks_of_span(home->class_index) - std::size_t{1};
    fault.block = begin + std::min(offset / bytes, last) * bytes;
    fault.bytes = bytes - canary_bytes;
  }
}

/// Effects: as find_block, for the guarded pages. Returns: whether the address is in them.
bool find_guarded(fault_report& fault) noexcept {
  if constexpr (chosen_profile.samples_guards) {
    if (!the_guards.holds(fault.address)) return false;
    const guarded_block& around = the_guards.around(fault.address);
    fault.block = the_guards.begin_around(fault.address);
    fault.bytes = around.bytes;
    fault.allocated_by = around.thread;
    fault.allocated = around.allocated;
    fault.freed_by = around.freed_by;
    fault.freed = around.released;
    return true;
  }
  return false;
}

/// Returns: the first call of a stack that does not return to the library, or nullptr.
[[maybe_unused]] const void* site_in(const os::stack_trace& stack) noexcept {
  for (std::size_t each = 0; each < stack.count; ++each) {
    if (!the_facts.code.holds(stack.frames[each])) return stack.frames[each];
  }
  return nullptr;
}

/// Effects: finds the call sites of the block, if the option is set. Where no block is known, the
/// address may be that of a large block that was freed.
void find_sites(fault_report& fault) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    if (the_facts.sites == nullptr) return;
    fault.allocated_at = site_in(fault.allocated);
    fault.freed_at = site_in(fault.freed);
    const block_sites* const sites = sites_of(fault.block != nullptr ? fault.block : fault.address);
    if (sites == nullptr) return;
    fault.allocated_at = sites->allocated.load(std::memory_order_relaxed);
    fault.freed_at = sites->freed.load(std::memory_order_relaxed);
  }
}

void write_stack(std::string_view title, std::uint64_t thread,
                 const os::stack_trace& stack) noexcept {
  if (thread == 0) return;
  text line;
  line.add("  ").add(title).add(" by thread ").add(thread).add(":");
  for (std::size_t each = 0; each < stack.count; ++each) {
    line.add(" ").add_address(stack.frames[each]);
  }
  line.add("\n").write();
}

void write_site(std::string_view title, const void* site) noexcept {
  if (site == nullptr) return;
  text line;
  line.add("  ").add(title).add(" by the call that returns to ").add_address(site);
  line.add("\n").write();
}

/// Effects: calls `use(address, piece)` for each address of the report that is in a mapped file,
/// but not in that of the heap, which is in every report. The addresses are of this run alone: the
/// loader puts programs and libraries at others the next time.
template <typename Use>
void for_code(const fault_report& fault, Use use) noexcept {
  const os::address_range own = os::own_code();
  os::mapped_files files;
  for (os::mapped_file piece; files.next(piece);) {
    const auto look = [&](const void* address) {
      if (piece.holds(address) && !own.holds(address)) use(address, piece);
    };
    for (const os::stack_trace* const stack : {&fault.here, &fault.allocated, &fault.freed}) {
      for (std::size_t each = 0; each < stack->count; ++each) look(stack->frames[each]);
    }
    look(fault.allocated_at);
    look(fault.freed_at);
  }
}

void write_code(const fault_report& fault) noexcept {
  for_code(fault, [](const void* address, const os::mapped_file& piece) {
    text line;
    line.add("  ").add_address(address).add(" is ").add(piece.path).add("+");
    line.add_address(piece.offset_of(address)).add("\n").write();
  });
}

/// A line of JSON. It is written at once, so that lines of threads that report at the same time do
/// not mix.
using json_line = text_of<2048>;

void add_member(json_line& line, std::string_view name, const void* address) noexcept {
  line.add(", \"").add(name).add("\": ");
  if (address == nullptr) {
    line.add("null");
  } else {
    line.add("\"").add_address(address).add("\"");
  }
}

void add_stack(json_line& line, std::string_view name, std::uint64_t thread,
               const os::stack_trace& stack) noexcept {
  line.add(", \"").add(name).add("\": {\"thread\": ").add(thread).add(", \"stack\": [");
  for (std::size_t each = 0; each < stack.count; ++each) {
    line.add(each == 0 ? "\"" : ", \"").add_address(stack.frames[each]).add("\"");
  }
  line.add("]}");
}

/// Whether a path stands in JSON as it is.
bool is_plain(std::string_view path) noexcept {
  return std::all_of(path.begin(), path.end(), [](char each) {
    return each >= ' ' && each <= '~' && each != '"' && each != '\\';
  });
}

/// Effects: adds the files that the addresses are in, as far as there is room: the rest of the line
/// has to fit, or nobody can read it.
void add_files(json_line& line, const fault_report& fault) noexcept {
  constexpr std::size_t rest = 96;
  std::uintptr_t last = 0;
  line.add(", \"files\": [");
  for_code(fault, [&](const void*, const os::mapped_file& piece) {
    const std::size_t room = json_line::most_bytes - line.view().size();
    if (piece.begin == last || !is_plain(piece.path) || room < piece.path.size() + rest) return;
    line.add(last == 0 ? "{" : ", {").add("\"begin\": \"");
    line.add_address(reinterpret_cast<const void*>(piece.begin)).add("\", \"end\": \"");
    line.add_address(reinterpret_cast<const void*>(piece.end)).add("\", \"offset\": \"");
    line.add_address(reinterpret_cast<const void*>(piece.offset)).add("\", \"file\": \"");
    line.add(piece.path).add("\"}");
    last = piece.begin;
  });
  line.add("]");
}

} // namespace

fault_report describe_fault(const void* address, invalid kind) noexcept {
  fault_report fault{.kind = kind,
                     .address = address,
                     .thread = os::thread_number(),
                     .here = os::trace_stack(),
                     .allocated = {},
                     .freed = {}};
  if (!find_guarded(fault)) find_block(fault);
  find_sites(fault);
  return fault;
}

void write_lines(const fault_report& fault) noexcept {
  text line;
  line.add("  kind ").add(name_of(fault.kind)).add(", address ").add_address(fault.address);
  if (fault.block != nullptr) {
    line.add(", block ").add_address(fault.block).add(" of ").add(fault.bytes).add(" bytes");
  }
  line.add(", thread ").add(fault.thread).add("\n").write();
  write_stack("found", fault.thread, fault.here);
  write_stack("allocated", fault.allocated_by, fault.allocated);
  write_stack("freed", fault.freed_by, fault.freed);
  write_site("allocated", fault.allocated_at);
  write_site("freed", fault.freed_at);
  write_code(fault);
}

void write_json(const fault_report& fault, const char* path) noexcept {
  json_line line;
  line.add("{\"version\": 1, \"profile\": \"").add(chosen_profile.name);
  line.add("\", \"kind\": \"").add(name_of(fault.kind)).add("\"");
  add_member(line, "address", fault.address);
  add_member(line, "block", fault.block);
  line.add(", \"bytes\": ").add(fault.bytes);
  add_stack(line, "found", fault.thread, fault.here);
  if (fault.allocated_by != 0) add_stack(line, "allocated", fault.allocated_by, fault.allocated);
  if (fault.freed_by != 0) add_stack(line, "freed", fault.freed_by, fault.freed);
  if (fault.allocated_at != nullptr) add_member(line, "allocated_at", fault.allocated_at);
  if (fault.freed_at != nullptr) add_member(line, "freed_at", fault.freed_at);
  add_files(line, fault);
  line.add("}\n");
  const os::appended_file file{path};
  file.write(line.view().data(), line.view().size());
}

} // namespace heapwise::detail
