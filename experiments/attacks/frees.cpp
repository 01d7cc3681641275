// What becomes of a free that is wrong: X1, X2 and X5 to X7 of the catalogue of attacks.
#include <sys/mman.h>

#include <new>
#include <thread>

#include "sources/attempt.hpp"

namespace {

using namespace attacks;

void twice(attempt& the_attempt, live_blocks& blocks) {
  blocks.take(the_attempt, 2);
  std::byte* const block = the_attempt.take();
  the_attempt.give(block);
  the_attempt.deed([&] { the_attempt.give(block); });
  go_on(the_attempt, blocks);
}

void twice_with_one_between(attempt& the_attempt, live_blocks& blocks) {
  std::byte* const block = the_attempt.take();
  std::byte* const other = the_attempt.take();
  the_attempt.give(block);
  the_attempt.give(other);
  the_attempt.deed([&] { the_attempt.give(block); });
  go_on(the_attempt, blocks);
}

void twice_after_20(attempt& the_attempt, live_blocks& blocks) {
  constexpr std::size_t between = 20;
  std::array<std::byte*, between> freed;
  for (std::byte*& each : freed) each = the_attempt.take();
  for (std::byte* each : freed) the_attempt.give(each);
  the_attempt.deed([&] { the_attempt.give(freed.front()); });
  go_on(the_attempt, blocks);
}

void twice_after_1024_pairs(attempt& the_attempt, live_blocks& blocks) {
  std::byte* const block = the_attempt.take();
  the_attempt.give(block);
  for (int i = 0; i < 1024; ++i) the_attempt.give(the_attempt.take());
  the_attempt.deed([&] { the_attempt.give(block); });
  go_on(the_attempt, blocks);
}

void twice_in_other_thread(attempt& the_attempt, live_blocks& blocks) {
  std::byte* const block = the_attempt.take();
  the_attempt.give(block);
  the_attempt.deed([&] { std::thread{[&] { the_attempt.give(block); }}.join(); },
                   [] { std::thread{[] {}}.join(); });
  go_on(the_attempt, blocks);
}

/// The block has a new owner, whose memory is freed behind his back.
void freed_of_new_owner(attempt& the_attempt, live_blocks& blocks) {
  std::byte* const block = the_attempt.take();
  the_attempt.give(block);
  constexpr std::size_t tries = 64;
  blocks.take(the_attempt, tries);
  the_attempt.deed([&] { the_attempt.give(block); });
  go_on(the_attempt, blocks);
}

template <std::ptrdiff_t offset>
void inside(attempt& the_attempt, live_blocks& blocks) {
  std::byte* const block = blocks.add(the_attempt.take(), the_attempt.size());
  the_attempt.deed([&] { the_attempt.give(block + offset); });
  go_on(the_attempt, blocks);
}

/// Frees an address that malloc never gave, and looks whether malloc gives it now.
void free_foreign(attempt& the_attempt, live_blocks& blocks, prey wanted, std::size_t offset) {
  blocks.take(the_attempt, 2);
  the_attempt.deed([&] { the_attempt.give(const_cast<std::byte*>(wanted.begin) + offset); });
  go_on(the_attempt, blocks, wanted);
}

constexpr std::size_t prey_bytes = std::size_t{1} << 20;
alignas(4096) std::byte variables[prey_bytes];

void variable(attempt& the_attempt, live_blocks& blocks) {
  free_foreign(the_attempt, blocks, {variables, prey_bytes}, prey_bytes / 2);
}

/// As the attacker of glibc's "house of spirit" does it: what looks like the header of a chunk lies
/// before the address.
void variable_with_header(attempt& the_attempt, live_blocks& blocks) {
  constexpr std::size_t half = prey_bytes / 2;
  const std::size_t chunk = (the_attempt.size() + 8 + 15) / 16 * 16;
  const std::size_t next = 0x21;
  const std::size_t flagged = std::max<std::size_t>(chunk, 32) | 1;
  std::memcpy(variables + half - sizeof flagged, &flagged, sizeof flagged);
  if (half + chunk < prey_bytes) {
    std::memcpy(variables + half - sizeof next + chunk, &next, sizeof next);
  }
  escape(variables);
  free_foreign(the_attempt, blocks, {variables, prey_bytes}, half);
}

void stack(attempt& the_attempt, live_blocks& blocks) {
  alignas(64) std::array<std::byte, 4096> here{};
  escape(here.data());
  free_foreign(the_attempt, blocks, {here.data(), here.size()}, 256);
}

void mapping(attempt& the_attempt, live_blocks& blocks) {
  void* const pages =
      mmap(nullptr, prey_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  free_foreign(the_attempt, blocks, {static_cast<std::byte*>(pages), prey_bytes}, prey_bytes / 2);
}

void number(attempt& the_attempt, live_blocks& blocks) {
  the_attempt.deed([&] { the_attempt.give(reinterpret_cast<void*>(std::uintptr_t{8})); });
  go_on(the_attempt, blocks);
}

void realloc_of_freed(attempt& the_attempt, live_blocks& blocks) {
  std::byte* const block = the_attempt.take();
  the_attempt.give(block);
  the_attempt.deed([&] {
    auto* const new_block = static_cast<std::byte*>(
        hidden(std::realloc(hidden(block), hidden(the_attempt.size() + 8))));
    blocks.add(new_block, the_attempt.size());
  });
  go_on(the_attempt, blocks);
}

/// The sized delete of another size: a type that was cast wrongly.
template <std::size_t times>
void delete_of_other_size(attempt& the_attempt, live_blocks& blocks) {
  void* const block = hidden(::operator new(the_attempt.size()));
  the_attempt.deed([&] { ::operator delete(hidden(block), hidden(times * the_attempt.size())); },
                   [&] { ::operator delete(hidden(block), hidden(the_attempt.size())); });
  go_on(the_attempt, blocks);
  for (int i = 0; i < 64; ++i) { // blocks of the wrong size, in the place of smaller ones
    blocks.add(the_attempt.take(times * the_attempt.size()), times * the_attempt.size());
    blocks.add(the_attempt.take(), the_attempt.size());
  }
  the_attempt.saw_effect_if(!blocks.intact());
}

constexpr entry entries[] = {
    {"twice", twice},
    {"twice_with_one_between", twice_with_one_between},
    {"twice_after_20", twice_after_20},
    {"twice_after_1024_pairs", twice_after_1024_pairs},
    {"twice_in_other_thread", twice_in_other_thread},
    {"freed_of_new_owner", freed_of_new_owner},
    {"inside_by_8", inside<8>, 16},
    {"inside_by_16", inside<16>, 64},
    {"inside_by_page", inside<4096>, 8192},
    {"variable", variable},
    {"variable_with_header", variable_with_header},
    {"stack", stack},
    {"mapping", mapping},
    {"number", number},
    {"realloc_of_freed", realloc_of_freed},
    {"delete_of_larger_size", delete_of_other_size<4>},
};

void measure(cell& the_cell) { attacks::measure(the_cell, entries); }

const experiment question = experiment_of(
    "attacks/frees", "Which allocator stops a free that is wrong, and which hands out damage?",
    entries, {"twice", "inside_by_8", "variable"}, measure);

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
