// What becomes of a write beyond a block or after its end: X3, X8, X10, X12 and X13.
#include "sources/attempt.hpp"

namespace {

using namespace attacks;

constexpr std::size_t neighbours = 64;

/// Returns: one of the blocks that has others on both sides.
std::size_t pick(attempt& the_attempt, live_blocks& blocks) {
  blocks.take(the_attempt, neighbours);
  blocks.sort();
  return 1 + the_attempt.random().below(blocks.size() - 2);
}

/// Writes from the end of what may be used, or up to its start; then the block is freed.
template <std::ptrdiff_t bytes>
void write_outside(attempt& the_attempt, live_blocks& blocks) {
  constexpr int letter = 'A';
  const std::size_t number = pick(the_attempt, blocks);
  std::byte* const block = blocks[number];
  const std::size_t usable = malloc_usable_size(hidden(block));
  the_attempt.deed([&] {
    std::byte* const end = hidden(block + usable);
    std::memset(hidden(bytes > 0 ? end : block + bytes), letter,
                hidden(static_cast<std::size_t>(bytes > 0 ? bytes : -bytes)));
    escape(block);
  });
  blocks.remove(number);
  the_attempt.give(block);
  the_attempt.saw_effect_if(!blocks.intact());
  blocks.free_all(the_attempt);
  go_on(the_attempt, blocks);
}

/// Others have the memory when it is written to.
void write_to_new_owner(attempt& the_attempt, live_blocks& blocks) {
  std::byte* const block = the_attempt.take();
  the_attempt.give(block);
  blocks.take(the_attempt, neighbours);
  the_attempt.deed([&] {
    std::memset(hidden(block), 'A', sizeof(std::uint64_t));
    escape(block);
  });
  the_attempt.saw_effect_if(!blocks.intact());
  blocks.free_all(the_attempt);
  go_on(the_attempt, blocks);
}

alignas(4096) std::byte variables[1 << 16];

/// What an allocator keeps in free blocks is replaced by the address of a variable.
void link_to_variable(attempt& the_attempt, live_blocks& blocks) {
  std::array<std::byte*, 6> freed;
  for (std::byte*& each : freed) each = the_attempt.take();
  for (std::byte* each : freed) the_attempt.give(each);
  const auto wanted = reinterpret_cast<std::uintptr_t>(variables + sizeof variables / 2);
  the_attempt.deed([&] {
    std::memcpy(hidden(freed.back()), &wanted, sizeof wanted);
    escape(freed.back());
  });
  go_on(the_attempt, blocks, {variables, sizeof variables});
}

/// The lowest byte of it alone, as an overflow by one byte does.
void link_by_one_byte(attempt& the_attempt, live_blocks& blocks) {
  std::array<std::byte*, 6> freed;
  for (std::byte*& each : freed) each = the_attempt.take();
  for (std::byte* each : freed) the_attempt.give(each);
  the_attempt.deed([&] {
    *hidden(freed.back()) ^= std::byte{0x10};
    escape(freed.back());
  });
  go_on(the_attempt, blocks);
}

/// A block in use is written beyond its end, into the free ones behind it.
void overrun_into_free(attempt& the_attempt, live_blocks& blocks) {
  const std::size_t number = pick(the_attempt, blocks);
  std::byte* const block = blocks[number];
  std::byte* const next = blocks[number + 1];
  const std::size_t usable = malloc_usable_size(hidden(block));
  const auto wanted = reinterpret_cast<std::uintptr_t>(variables + sizeof variables / 2);
  blocks.remove(number + 1);
  the_attempt.give(next);
  the_attempt.deed([&] {
    constexpr std::size_t words = 8;
    for (std::size_t i = 0; i < words; ++i) {
      std::memcpy(hidden(block + usable + i * sizeof wanted), &wanted, sizeof wanted);
    }
    escape(block);
  });
  the_attempt.saw_effect_if(!blocks.intact());
  go_on(the_attempt, blocks, {variables, sizeof variables});
}

/// A zero that ends a text too late clears what may be the size of the next block; that is freed
/// twice then.
void zero_then_twice(attempt& the_attempt, live_blocks& blocks) {
  const std::size_t number = pick(the_attempt, blocks);
  std::byte* const block = blocks[number];
  std::byte* const next = blocks[number + 1];
  const std::size_t usable = malloc_usable_size(hidden(block));
  blocks.remove(number + 1);
  the_attempt.give(next);
  the_attempt.deed([&] {
    *hidden(block + usable) = std::byte{0};
    the_attempt.give(next);
  });
  go_on(the_attempt, blocks);
}

constexpr entry entries[] = {
    {"past_end_by_1", write_outside<1>},
    {"past_end_by_8", write_outside<8>},
    {"past_end_by_32", write_outside<32>},
    {"past_end_by_MiB", write_outside<(std::ptrdiff_t{1} << 20)>},
    {"before_start_by_8", write_outside<-8>},
    {"before_start_by_32", write_outside<-32>},
    {"to_new_owner", write_to_new_owner},
    {"link_to_variable", link_to_variable},
    {"link_by_one_byte", link_by_one_byte},
    {"overrun_into_free", overrun_into_free},
    {"zero_then_twice", zero_then_twice},
};

void measure(cell& the_cell) { attacks::measure(the_cell, entries); }

const experiment question = experiment_of(
    "attacks/writes", "Which allocator stops a write outside of a block, or into a free one?",
    entries, {"past_end_by_8", "to_new_owner", "link_to_variable"}, measure);

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
