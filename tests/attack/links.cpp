// X12: the first word of a free block is written over, then two blocks are asked for.
//
//   links SIZE benign|bytes|low|aim
//
// benign: nothing is written; bytes: all of it with each of 256 values; low: only its lowest byte,
// as an overflow by one does; aim: the address of a victim, which is what an attacker wants to be
// given. Each in a child of its own; what became of them is counted, one line each:
//
//   whole N        two blocks that may be used as such
//   ended N        the process was ended by a signal
//   controlled N   malloc gave an address that was chosen by the writer, or half of a block
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

enum fate { whole = 10, controlled = 11, refused = 12 };

template <class T>
T hidden(T value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

alignas(4096) char victim[1 << 16];

/// Returns: the blocks overlap.
bool overlap(const char* one, const char* other, std::size_t size) {
  return one < other + size && other < one + size;
}

/// The child: writes over what `write_over` is given, and tells its fate by its exit status.
template <class WriteOver>
[[noreturn]] void attack(std::size_t size, const WriteOver& write_over) {
  constexpr int count = 6;
  char* blocks[count];
  for (char*& block : blocks) block = static_cast<char*>(hidden(std::malloc(size)));
  for (int i = 1; i < count; ++i) std::free(hidden(blocks[i]));
  const std::uintptr_t written = write_over(hidden(blocks[count - 1]));
  char* got[2];
  for (char*& block : got) block = static_cast<char*>(hidden(std::malloc(size)));
  for (const char* block : got) {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    if (block == nullptr) _exit(refused);
    if (address == written || (block >= victim && block < victim + sizeof victim))
      _exit(controlled);
    if (address % 16 != 0 || overlap(block, blocks[0], size)) _exit(controlled);
    if (malloc_usable_size(hidden(const_cast<char*>(block))) < size) _exit(controlled);
  }
  if (overlap(got[0], got[1], size)) _exit(controlled);
  for (char* block : got) std::memset(block, 1, size);
  _exit(whole);
}

int fates[3];

template <class WriteOver>
void try_once(std::size_t size, const WriteOver& write_over) {
  const pid_t child = fork();
  if (child == 0) {
    fclose(stderr);
    attack(size, write_over);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    ++fates[1];
  else if (WEXITSTATUS(status) == controlled)
    ++fates[2];
  else
    ++fates[0];
}

std::uintptr_t word_at(const char* block) {
  std::uintptr_t word = 0;
  std::memcpy(&word, block, sizeof word);
  return word;
}

void every_value(std::size_t size, std::size_t bytes) {
  for (int value = 0; value < 256; ++value) {
    try_once(size, [&](char* block) {
      std::memset(block, value, bytes);
      return word_at(block);
    });
  }
}

void aim(std::size_t size) {
  for (std::size_t offset = 0; offset < sizeof victim; offset += 1024) {
    try_once(size, [&](char* block) {
      const auto address = reinterpret_cast<std::uintptr_t>(victim) + offset;
      std::memcpy(block, &address, sizeof address);
      return address;
    });
  }
}

} // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::size_t size = std::strtoul(arguments[1], nullptr, 10);
  const char* const what = arguments[2];
  if (std::strcmp(what, "bytes") == 0)
    every_value(size, sizeof(void*));
  else if (std::strcmp(what, "low") == 0)
    every_value(size, 1);
  else if (std::strcmp(what, "aim") == 0)
    aim(size);
  else
    for (int i = 0; i < 16; ++i) try_once(size, [](char*) { return std::uintptr_t{0}; });
  std::printf("whole %d\nended %d\ncontrolled %d\n", fates[0], fates[1], fates[2]);
}
