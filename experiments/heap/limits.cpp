// Limits that the system sets: how much of them an allocator can use, and what it does at the end.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "harness/processes/own_process.hpp"
#include "harness/processes/two_sides.hpp"
#include "sources/marks.hpp"
#include "sources/quantities.hpp"
#include "sources/request_sizes.hpp"
#include "sources/sources.hpp"
#include "sources/system_figures.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::uint64_t mib = 1 << 20;
constexpr unsigned most_seconds = 10; ///< of processor time; an allocator that did not say no hangs

/// heapwise/heap.hpp without exceptions: that there is no memory is an answer here.
struct inlined_heap_or_null : heaps::inlined_heap {
  static void* allocate(std::size_t bytes) { return heapwise::try_allocate(bytes); }
};

constexpr std::array<weighted_size, 5> buffer_sizes{
    {{65536, .2}, {131072, .2}, {262144, .2}, {524288, .2}, {1048576, .2}}};
constexpr size_mix buffers{"buffers", buffer_sizes, .6, 64, 0};

/// What the process says of itself while it lives, in memory that the parent shares.
struct progress {
  std::uint64_t first_bytes = 0;  ///< live when malloc said no for the first time
  std::uint64_t second_bytes = 0; ///< after all was freed, with blocks of other sizes
  std::uint64_t calls = 0;
  std::uint64_t blocks = 0;
  std::uint64_t whole = 0;
};

/// A list of live blocks that needs no memory of its own: each block says which one came before it.
template <class Source>
class chain {
 public:
  /// Allocates until malloc says no, or `most_bytes` are live; `live_bytes` follows it.
  void grow(const heaps::request_sizes& sizes, std::uint64_t most_bytes, std::uint64_t& live_bytes,
            std::uint64_t& calls) {
    for (std::size_t number = 0; live_bytes < most_bytes; ++number) {
      const auto bytes = static_cast<std::uint32_t>(sizes.of(number));
      ++calls;
      void* const block = source_.allocate(bytes);
      escape(block);
      if (block == nullptr) return;
      heaps::touch_pages(block, bytes);
      last_ = ::new (block) link{last_, bytes, check_of(block, bytes)};
      live_bytes += bytes;
    }
  }

  /// Frees all blocks, the newest first.
  void clear(progress& counts) {
    while (last_ != nullptr) {
      const link last = *last_;
      ++counts.blocks;
      counts.whole += last.check == check_of(last_, last.bytes) ? 1 : 0;
      source_.deallocate(last_, last.bytes);
      last_ = last.before;
    }
  }

 private:
  struct link {
    link* before;
    std::uint32_t bytes;
    std::uint32_t check;
  };

  static std::uint32_t check_of(const void* block, std::uint32_t bytes) noexcept {
    return ~bytes ^ static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block) >> 4);
  }

  Source source_;
  link* last_ = nullptr;
};

/// Takes mappings, one for each other page of a range, until the process may have no more; then
/// gives back `spare` of them, an even number.
void fill_map_count(std::size_t most_maps, std::size_t spare) {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (most_maps + 2) * page_bytes;
  void* const range =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw std::bad_alloc{};
  std::size_t at = page_bytes;
  while (at < bytes && mprotect(static_cast<char*>(range) + at, page_bytes, PROT_READ) == 0) {
    at += 2 * page_bytes;
  }
  // A page that is again as its two neighbours becomes one mapping with them.
  for (std::size_t given_back = 0; given_back < spare; given_back += 2) {
    at -= 2 * page_bytes;
    mprotect(static_cast<char*>(range) + at, page_bytes, PROT_NONE);
  }
}

void limit(int resource, std::uint64_t bytes) {
  const rlimit to{bytes, bytes};
  if (setrlimit(resource, &to) != 0) throw std::bad_alloc{};
}

constexpr long most_maps_worth_filling = 300'000;

/// Ends the cell if the limit cannot be set here, or is not in force.
void require(const cell& the_cell, std::string_view which) {
  if (which == "overcommit" && heaps::number_in("/proc/sys/vm/overcommit_memory") != 2) {
    the_cell.refuse(
        "overcommit",
        "not applicable: vm.overcommit_memory is not 2 on this machine, and changing it "
        "would change it for all programs");
  }
  if (which != "map_count" && which != "few_maps") return;
  const long most = heaps::number_in("/proc/sys/vm/max_map_count");
  if (most < 0) the_cell.refuse("map_count", "not applicable: vm.max_map_count cannot be read");
  if (most > most_maps_worth_filling) {
    the_cell.refuse("map_count",
                    "not applicable: vm.max_map_count is above 300,000 on this machine, "
                    "too many mappings to make for each allocator");
  }
}

void set(std::string_view which, std::uint64_t bytes) {
  if (which == "address_space") limit(RLIMIT_AS, bytes);
  if (which == "data") limit(RLIMIT_DATA, bytes);
  if (which == "map_count" || which == "few_maps") {
    constexpr std::size_t few = 16;
    fill_map_count(static_cast<std::size_t>(heaps::number_in("/proc/sys/vm/max_map_count")),
                   which == "few_maps" ? few : 0);
  }
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const std::string_view which = the_cell.text("limit");
    require(the_cell, which);
    const std::uint64_t bytes = the_cell.size("limit_mib") * mib;
    if (!heaps::may_use(2 * bytes)) {
      the_cell.refuse("memory", "less than twice limit_mib is available; try --set limit_mib=128");
    }
    const heaps::request_sizes small{small_and_medium, the_cell.random()};
    const heaps::request_sizes large{buffers, the_cell.random()};
    const bool small_first = the_cell.text("order") == "small_first";
    const shared_object<progress> result;
    the_cell.each_repeat([&](sample& the_sample) {
      *result = {};
      ending how;
      the_sample.measure(1, [&] {
        how = run_in_own_process(most_seconds, [&] {
          chain<Source> blocks;
          const heaps::request_sizes& first = small_first ? small : large;
          // A program runs for a while before it limits itself. In a forked process this also makes
          // mappings that the kernel extends: those of before the fork it does not (fork is ours).
          blocks.grow(first, bytes / 32, result->first_bytes, result->calls);
          set(which, bytes);
          work(blocks, first, small_first ? large : small, bytes, *result);
        });
      });
      report(the_cell, the_sample, how, bytes, *result);
    });
  }

  static void work(chain<Source>& blocks, const heaps::request_sizes& first,
                   const heaps::request_sizes& second, std::uint64_t most_bytes, progress& counts) {
    blocks.grow(first, most_bytes, counts.first_bytes, counts.calls);
    blocks.clear(counts);
    blocks.grow(second, counts.first_bytes, counts.second_bytes, counts.calls);
    blocks.clear(counts);
  }

  static void report(cell& the_cell, sample& the_sample, const ending& how, std::uint64_t bytes,
                     const progress& counts) {
    if (!how.forked) the_cell.refuse("process", "the system does not allow one more");
    if (how.exit_code != 0) the_cell.refuse("limit", "there was no room to set it");
    the_sample.set("allocated", heaps::ratio(counts.first_bytes, bytes));
    the_sample.set("reused", heaps::ratio(counts.second_bytes,
                                          std::max<std::uint64_t>(1, counts.first_bytes)));
    the_sample.set("survived", how.well() ? 1 : 0);
    if (how.well()) the_cell.expect_calls(counts.calls);
    the_cell.check("work", !how.well() || counts.whole == counts.blocks,
                   "{} (signal {}) after {} MiB, then {} MiB; {} whole blocks of {}",
                   how.well() ? "went on" : "died", how.signal, counts.first_bytes / mib,
                   counts.second_bytes / mib, counts.whole, counts.blocks);
  }
};

const experiment question{
    .id = "heap/limits",
    .question = "Does an allocator work, and how, at the limits that the system sets?",
    .isolates =
        "A process that limits itself when its allocator is at work: its address space "
        "(RLIMIT_AS), its data (RLIMIT_DATA), or its mappings (vm.max_map_count), all of which "
        "are used up (map_count) or all but 16 (few_maps). It allocates until malloc says no, or "
        "until as many bytes as the "
        "limit are live, frees everything, and allocates as much again in blocks of other sizes: "
        "16 to 4096 bytes, then 64 KiB to 1 MiB, or the other way round.",
    .not_shown =
        "Speed at the limit. The program itself, its libraries and its stack count towards the "
        "limits too: no allocator reaches 1 in address_space. A map count has no bytes: there "
        "limit_mib is what the program wants. overcommit is measured only where the machine has "
        "vm.overcommit_memory 2, and then shows whether limit_mib is granted, not where the end "
        "is, which all programs share. A process that neither ends nor is told no within 10 s "
        "of processor time, or within 100 s, counts as dead.",
    .parameters =
        {{"limit",
          "what is limited",
          {"address_space", "data", "map_count", "few_maps", "overcommit"},
          {"address_space", "data", "map_count", "few_maps", "overcommit"}},
         {"order",
          "small blocks first and large ones in their place, or the other way round",
          {"small_first", "large_first"},
          {"small_first", "large_first"}},
         {"limit_mib", "of address space or data; of wanted memory", {512}, {128}, "MiB"}},
    .quantities = {{"allocated", "per byte of the limit", better::higher,
                    "bytes live when malloc said no, or the process died"},
                   {"reused", "per byte allocated before", better::higher,
                    "bytes live at the second time, after everything was freed"},
                   {"survived", "per run", better::higher,
                    "1 if malloc returned null or what was wanted, 0 if the process died"}},
    .subjects = heaps::subjects<measure, heaps::system_malloc, inlined_heap_or_null>(),
    .baseline = heaps::baseline,
    .repeats = 1,
    .dropped_repeats = 0,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
