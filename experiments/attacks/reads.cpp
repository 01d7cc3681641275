// What can be read or foreseen that should not: X9, X11 and X14.
#include "sources/attempt.hpp"

namespace {

using namespace attacks;

constexpr int letter = 'S';
constexpr std::size_t least_secret = 64; // behind what an allocator writes into free blocks

/// Returns: whether the middle of these bytes holds the secret.
bool holds_secret(const std::byte* block, std::size_t bytes) {
  constexpr std::size_t looked_at = 8;
  const std::byte* const middle = hidden(block + bytes / 2);
  return std::all_of(middle, middle + looked_at,
                     [](std::byte each) { return each == std::byte{letter}; });
}

std::byte* secret(attempt& the_attempt) {
  std::byte* const block = the_attempt.take();
  std::memset(hidden(block), letter, the_attempt.size());
  escape(block);
  return block;
}

void after_free(attempt& the_attempt, live_blocks& blocks) {
  std::byte* const block = secret(the_attempt);
  the_attempt.give(block);
  the_attempt.deed([&] { the_attempt.saw_effect_if(holds_secret(block, the_attempt.size())); });
  go_on(the_attempt, blocks);
}

void in_new_block(attempt& the_attempt, live_blocks& blocks) {
  the_attempt.give(secret(the_attempt));
  the_attempt.deed([&] {
    constexpr int tries = 64;
    for (int i = 0; i < tries; ++i) {
      the_attempt.saw_effect_if(holds_secret(the_attempt.take(), the_attempt.size()));
    }
  });
  go_on(the_attempt, blocks);
}

/// A text without its end fills all that may be used of a block.
void missing_end(attempt& the_attempt, live_blocks& blocks) {
  blocks.take(the_attempt, 16);
  blocks.sort();
  std::byte* const block = blocks[blocks.size() / 2];
  blocks.remove(blocks.size() / 2);
  const std::size_t usable = malloc_usable_size(hidden(block));
  the_attempt.deed([&] {
    std::memset(hidden(block), letter, usable);
    const std::size_t length = std::strlen(reinterpret_cast<const char*>(hidden(block)));
    the_attempt.saw_effect_if(length > usable);
  });
  the_attempt.give(block);
  go_on(the_attempt, blocks);
}

/// A program that holds a stale pointer knows what it points to.
void same_address_again(attempt& the_attempt, live_blocks& blocks) {
  std::byte* const block = the_attempt.take();
  the_attempt.give(block);
  the_attempt.deed([&] { the_attempt.saw_effect_if(the_attempt.take() == block); });
  go_on(the_attempt, blocks);
}

/// Blocks at equal distances in the order in which they were asked for: an attacker knows what lies
/// behind the block that can be overrun.
void known_neighbour(attempt& the_attempt, live_blocks& blocks) {
  constexpr std::size_t count = 16;
  blocks.take(the_attempt, count);
  the_attempt.deed([&] {
    const std::ptrdiff_t step = blocks[1] - blocks[0];
    bool equal = true;
    for (std::size_t i = 1; i + 1 < count; ++i) equal &= blocks[i + 1] - blocks[i] == step;
    the_attempt.saw_effect_if(equal);
  });
  go_on(the_attempt, blocks);
}

constexpr entry entries[] = {
    {"after_free", after_free, least_secret},
    {"in_new_block", in_new_block, least_secret},
    {"missing_end", missing_end},
    {"same_address_again", same_address_again},
    {"known_neighbour", known_neighbour},
};

void measure(cell& the_cell) { attacks::measure(the_cell, entries); }

const experiment question =
    experiment_of("attacks/reads",
                  "What does an allocator let a program read of freed memory, or foresee of new?",
                  entries, {"after_free", "same_address_again"}, measure);

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
