// A plug-in in C++ that calls each of the twenty operators. With OWN it defines some of them
// itself, with a memory of its own, and ends the process if it gets a block that is not of this
// memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <vector>

#ifdef OWN
namespace {
alignas(64) char memory[1 << 22];
std::size_t used = 0;

void* take(std::size_t size) {
  if (size > sizeof memory - used - 64) throw std::bad_alloc{};
  void* block = memory + used;
  used += (size + 63) / 64 * 64 + 64;
  return block;
}
void give(void* block) noexcept {
  const auto* at = static_cast<const char*>(block);
  if (block != nullptr && (at < memory || at >= memory + sizeof memory)) std::abort();
}
} // namespace
void* operator new(std::size_t size) { return take(size); }
void operator delete(void* block) noexcept { give(block); }
void operator delete(void* block, std::size_t) noexcept { give(block); }
#endif

namespace {
constexpr std::align_val_t aligned{128};
bool is_aligned(const void* block) { return reinterpret_cast<std::uintptr_t>(block) % 128 == 0; }

int call_all() {
  constexpr std::size_t size = 1111;
  void* plain[] = {::operator new(size),
                   ::operator new[](size),
                   ::operator new(size, std::nothrow),
                   ::operator new[](size, std::nothrow),
                   ::operator new(size),
                   ::operator new[](size)};
  void* wide[] = {::operator new(size, aligned),
                  ::operator new[](size, aligned),
                  ::operator new(size, aligned, std::nothrow),
                  ::operator new[](size, aligned, std::nothrow),
                  ::operator new(size, aligned),
                  ::operator new[](size, aligned)};
  for (void* each : wide) {
    if (!is_aligned(each)) return 10;
  }
  ::operator delete(plain[0]);
  ::operator delete[](plain[1]);
  ::operator delete(plain[2], std::nothrow);
  ::operator delete[](plain[3], std::nothrow);
  ::operator delete(plain[4], size);
  ::operator delete[](plain[5], size);
  ::operator delete(wide[0], aligned);
  ::operator delete[](wide[1], aligned);
  ::operator delete(wide[2], aligned, std::nothrow);
  ::operator delete[](wide[3], aligned, std::nothrow);
  ::operator delete(wide[4], size, aligned);
  ::operator delete[](wide[5], size, aligned);
  return 0;
}

/// Not if it is told so: under an allocator that cannot refuse in such a program.
int be_refused() {
  if (std::getenv("PLUGIN_ALL_FIT") != nullptr) return 0;
  volatile std::size_t too_many = PTRDIFF_MAX - 64;
  if (::operator new(too_many, std::nothrow) != nullptr) return 11;
  try {
    ::operator delete(::operator new(too_many));
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return 12;
}
} // namespace

extern "C" {
// Whether its blocks are of malloc, so that those of others are as good.
int plugin_shares() {
#ifdef OWN
  return 0;
#else
  return 1;
#endif
}
int plugin_work() {
  for (int round = 0; round < 20; ++round) {
    if (const int error = call_all(); error != 0) return error;
    if (const int error = be_refused(); error != 0) return error;
    std::map<int, std::string> texts;
    for (int i = 0; i < 100; ++i) texts[i] = std::string(static_cast<std::size_t>(i), 'x');
    std::vector<int> numbers(1000);
    if (texts.size() + numbers.size() != 1100) return 13;
  }
  return 0;
}
void* plugin_make(std::size_t size) { return ::operator new(size); }
void plugin_drop(void* block) { ::operator delete(block); }
void* plugin_make_here(std::size_t size) {
  void* volatile block = ::operator new(size);
  return block;
}
}
