// One attack on the heap, or its benign twin, in a process of its own:
//
//   attacks NAME SIZE attack|benign
//
// Prints "target ADDRESS" before the deed, and after it NOT CAUGHT (attack) or HARMLESS (benign).
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

template <class T>
T hidden(T value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

void say(const char* text) {
  if (::write(STDOUT_FILENO, text, std::strlen(text)) < 0) std::abort();
}

/// Returns: the address, which the message has to name.
void* target(void* address) {
  char line[64];
  std::snprintf(line, sizeof line, "target 0x%jx\n",
                static_cast<std::uintmax_t>(reinterpret_cast<std::uintptr_t>(address)));
  say(line);
  return address;
}

void* block_of(std::size_t size) { return std::memset(hidden(std::malloc(hidden(size))), 1, size); }

void release(void* address) { std::free(hidden(address)); }

char data[256];
const char literal[] = "a text that nobody allocated";

using deed = void (*)(std::size_t size, bool attack);

void twice(std::size_t size, bool attack) {
  void* const block = target(block_of(size));
  release(block);
  release(attack ? block : nullptr);
}

void twice_by_another_thread(std::size_t size, bool attack) {
  void* const block = target(block_of(size));
  std::thread([&] {
    release(block);
    release(attack ? block : nullptr);
  }).join();
}

/// What lies in a block when it comes back from malloc, or is copied from one that is free, is the
/// user's: it must not look freed.
void looks_freed(std::size_t size, bool) {
  void* blocks[8];
  for (void*& block : blocks) block = block_of(size);
  unsigned char words[8][16];
  for (void* block : blocks) release(block);
  for (int i = 0; i < 8; ++i) std::memcpy(words[i], hidden(blocks[i]), size < 16 ? size : 16);
  for (int round = 0; round < 8; ++round) {
    for (void*& block : blocks) block = hidden(std::malloc(size));
    for (int i = 0; i < 8; ++i)
      std::memcpy(blocks[i], words[(i + round) % 8], size < 16 ? size : 16);
    for (void* block : blocks) release(block);
  }
  void* const again = hidden(std::malloc(size)); // as it was left when it was freed
  release(again);
}

template <std::size_t offset>
void with_offset(std::size_t size, bool attack) {
  char* const block = static_cast<char*>(block_of(size));
  if (!attack) return release(block);
  release(target(block + offset));
}

void number(std::size_t, bool attack) {
  if (attack) release(target(reinterpret_cast<void*>(std::uintptr_t{1})));
}

void stack(std::size_t, bool attack) {
  alignas(64) char here[128];
  void* const address = hidden(static_cast<void*>(here));
  if (attack) release(target(address));
}

void of_program(std::size_t, bool attack) {
  if (attack) release(target(data));
}

void constant(std::size_t, bool attack) {
  if (attack) release(target(const_cast<char*>(literal)));
}

template <int protection>
void mapping(std::size_t size, bool attack) {
  void* const pages = mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (attack) release(target(pages));
  munmap(pages, size);
}

void resized(std::size_t size, bool attack) {
  void* const block = block_of(size);
  static_cast<void>(attack ? hidden(std::realloc(hidden(target(data + 1)), 500)) : block);
  release(block);
}

void in_child(std::size_t size, bool attack) {
  const pid_t child = fork();
  if (child == 0) {
    twice(size, attack);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
}

void without_stderr(std::size_t size, bool attack) {
  close(STDERR_FILENO);
  twice(size, attack);
}

struct entry {
  const char* name;
  deed act;
};

constexpr entry entries[] = {
    {"twice", twice},
    {"twice-by-another-thread", twice_by_another_thread},
    {"looks-freed", looks_freed},
    {"plus-1", with_offset<1>},
    {"plus-8", with_offset<8>},
    {"plus-4-pages", with_offset<4 * 4096>},
    {"plus-1-GiB", with_offset<std::size_t{1} << 30>},
    {"number", number},
    {"stack", stack},
    {"data", of_program},
    {"constant", constant},
    {"no-access", mapping<PROT_NONE>},
    {"foreign", mapping<PROT_READ | PROT_WRITE>},
    {"realloc-foreign", resized},
    {"in-child", in_child},
    {"without-stderr", without_stderr},
};

} // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const std::size_t size = std::strtoul(arguments[2], nullptr, 10);
  const bool attack = std::strcmp(arguments[3], "attack") == 0;
  for (const entry& each : entries) {
    if (std::strcmp(each.name, arguments[1]) != 0) continue;
    each.act(size, attack);
    say(attack ? "NOT CAUGHT\n" : "HARMLESS\n");
    return 0;
  }
  return 2;
}
