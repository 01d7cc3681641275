// B1-17: every form of operator new and delete.
#include "observe.hpp"

#include <limits>
#include <new>

#include <sys/resource.h>

namespace {

using namespace conformance;

constexpr std::align_val_t wide{64};

/// One form of new with the form of delete that belongs to it.
struct form {
  const char* name;
  void* (*allocate)(std::size_t);
  void (*release)(void*, std::size_t);
  bool throws;
  std::size_t alignment;
};

// Each of the fourteen deletes is used by one row at least.
const form forms[] = {
    {"new", [](std::size_t n) { return ::operator new(n); },
     [](void* p, std::size_t) { ::operator delete(p); }, true, 16},
    {"new, sized delete", [](std::size_t n) { return ::operator new(n); },
     [](void* p, std::size_t n) { ::operator delete(p, n); }, true, 16},
    {"new[]", [](std::size_t n) { return ::operator new[](n); },
     [](void* p, std::size_t) { ::operator delete[](p); }, true, 16},
    {"new[], sized delete", [](std::size_t n) { return ::operator new[](n); },
     [](void* p, std::size_t n) { ::operator delete[](p, n); }, true, 16},
    {"nothrow new", [](std::size_t n) { return ::operator new(n, std::nothrow); },
     [](void* p, std::size_t) { ::operator delete(p, std::nothrow); }, false, 16},
    {"nothrow new[]", [](std::size_t n) { return ::operator new[](n, std::nothrow); },
     [](void* p, std::size_t) { ::operator delete[](p, std::nothrow); }, false, 16},
    {"aligned new", [](std::size_t n) { return ::operator new(n, wide); },
     [](void* p, std::size_t) { ::operator delete(p, wide); }, true, 64},
    {"aligned new, sized delete", [](std::size_t n) { return ::operator new(n, wide); },
     [](void* p, std::size_t n) { ::operator delete(p, n, wide); }, true, 64},
    {"aligned new[]", [](std::size_t n) { return ::operator new[](n, wide); },
     [](void* p, std::size_t) { ::operator delete[](p, wide); }, true, 64},
    {"aligned new[], sized delete", [](std::size_t n) { return ::operator new[](n, wide); },
     [](void* p, std::size_t n) { ::operator delete[](p, n, wide); }, true, 64},
    {"aligned nothrow new", [](std::size_t n) { return ::operator new(n, wide, std::nothrow); },
     [](void* p, std::size_t) { ::operator delete(p, wide, std::nothrow); }, false, 64},
    {"aligned nothrow new[]", [](std::size_t n) { return ::operator new[](n, wide, std::nothrow); },
     [](void* p, std::size_t) { ::operator delete[](p, wide, std::nothrow); }, false, 64},
};

bool works(const form& each) {
  bool right = true;
  each.release(nullptr, 0);
  for (std::size_t size = 0; size < 3'000'000; size += 1 + size) {
    void* blocks[8];
    std::size_t tag = 0;
    for (void*& block : blocks) fill(block = hidden(each.allocate(hidden(size))), size, ++tag);
    tag = 0;
    for (void* block : blocks) {
      right = right && is_aligned(block, each.alignment) && filled(block, size, ++tag);
      each.release(hidden(block), size);
    }
  }
  return right;
}

const char* refusal(const form& each, std::size_t size) {
  try {
    void* const block = hidden(each.allocate(hidden(size)));
    if (block == nullptr) return "NULL";
    each.release(block, size);
    return "block";
  } catch (const std::bad_alloc&) {
    return "bad_alloc";
  } catch (...) {
    return "something else";
  }
}

const char* as_promised(const form& each, std::size_t size) {
  const char* const end = refusal(each, size);
  return std::strcmp(end, each.throws ? "bad_alloc" : "NULL") == 0 ? "bad_alloc or NULL" : end;
}

void without_handler() {
  consensus works_at_all;
  consensus too_much;
  consensus plain;
  consensus aligned;
  for (const form& each : forms) {
    works_at_all.add(yes_or_no(works(each)), "%s", each.name);
    for (const std::size_t size : {SIZE_MAX / 2, std::size_t{PTRDIFF_MAX} + 1, SIZE_MAX / 2 + 64}) {
      too_much.add(as_promised(each, size), "%s", each.name);
    }
    (each.alignment == 16 ? plain : aligned).add(as_promised(each, SIZE_MAX), "%s", each.name);
  }
  expect("B1-17", "every form of new and delete, every size", works_at_all.text(), "yes");
  expect("B1-17", "more than half of the addresses", too_much.text(), "bad_alloc or NULL");
  expect("B1-17", "SIZE_MAX bytes", plain.text(), "bad_alloc or NULL");
  stricter("B1-17", "SIZE_MAX bytes, aligned", aligned.text(), "bad_alloc or NULL",
           "libstdc++ rounds the size up to the alignment and gets 0");
}

int calls = 0;

void third_gives_up() {
  if (++calls == 3) std::set_new_handler(nullptr);
}

void throws_at_once() {
  ++calls;
  throw std::bad_alloc();
}

void with_handler() {
  consensus again;
  consensus through;
  for (const form& each : forms) {
    calls = 0;
    std::set_new_handler(third_gives_up);
    const char* const end = refusal(each, SIZE_MAX / 2);
    const bool right = calls == 3 && std::strcmp(end, each.throws ? "bad_alloc" : "NULL") == 0;
    again.add(yes_or_no(right), "%s: %d calls, %s", each.name, calls, end);
    calls = 0;
    std::set_new_handler(throws_at_once);
    const char* const thrown = refusal(each, SIZE_MAX / 2);
    const bool once = calls == 1 && std::strcmp(thrown, each.throws ? "bad_alloc" : "NULL") == 0;
    through.add(yes_or_no(once), "%s: %d calls, %s", each.name, calls, thrown);
    std::set_new_handler(nullptr);
  }
  expect("B1-17", "new_handler is called until there is none", again.text(), "yes");
  expect("B1-17", "what new_handler throws comes through, or NULL", through.text(), "yes");
}

void malloc_asks_nobody() {
  calls = 0;
  std::set_new_handler(throws_at_once);
  void* const block = hidden(std::malloc(24));
  const bool none = hidden(std::malloc(hidden(SIZE_MAX / 2))) == nullptr &&
                    hidden(std::calloc(hidden(SIZE_MAX / 2), 2)) == nullptr &&
                    hidden(std::realloc(hidden(block), hidden(SIZE_MAX / 2))) == nullptr &&
                    hidden(aligned_alloc(64, hidden(SIZE_MAX / 2))) == nullptr;
  std::set_new_handler(nullptr);
  std::free(hidden(block));
  expect("B1-17", "malloc and its kin never call new_handler", yes_or_no(none && calls == 0),
         "yes");
}

rlimit before_space;
rlimit before_data;

void lifts_the_limit() {
  ++calls;
  setrlimit(RLIMIT_AS, &before_space);
  setrlimit(RLIMIT_DATA, &before_data);
}

void handler_helps() {
  getrlimit(RLIMIT_AS, &before_space);
  getrlimit(RLIMIT_DATA, &before_data);
  rlimit tight_space = before_space;
  rlimit tight_data = before_data;
  tight_space.rlim_cur = tight_data.rlim_cur = resident_bytes() + (64UL << 20);
  setrlimit(RLIMIT_AS, &tight_space);
  setrlimit(RLIMIT_DATA, &tight_data);
  calls = 0;
  std::set_new_handler(lifts_the_limit);
  const char* const end = refusal(forms[0], 1UL << 30);
  std::set_new_handler(nullptr);
  const int needed = calls;
  lifts_the_limit();
  expect("B1-17", "1 GiB with a new_handler that lifts the limit of memory", end, "block");
  observe("B1-17", "calls of that new_handler", needed == 0 ? "0" : needed == 1 ? "1" : "more");
  done("B1-17");
}

} // namespace

int main() {
  introduce();
  without_handler();
  with_handler();
  malloc_asks_nobody();
  handler_helps();
}
