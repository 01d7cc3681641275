// Objects that are destroyed twice, damaged, or foreign: the pool looks before the destructor runs.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>

#include <doctest/doctest.h>
#include <unistd.h>
#include <heapwise/adapt/deleter.hpp>

#include "child.hpp"
#include "policies.hpp"

namespace {

using contract::ending;
using contract::in_child;

#define SETTINGS_OF(policy)                                                          \
  contract::setting<policy, heapwise::trusting, heapwise::growth::fixed>,            \
      contract::setting<policy, heapwise::foreign_checked, heapwise::growth::fixed>, \
      contract::setting<policy, heapwise::checked, heapwise::growth::fixed>
#define SETTINGS                                                        \
  SETTINGS_OF(heapwise::unsynchronized), SETTINGS_OF(heapwise::locked), \
      SETTINGS_OF(heapwise::lock_free), SETTINGS_OF(heapwise::thread_cached)
#define CHECKED_OF(policy) contract::setting<policy, heapwise::checked, heapwise::growth::fixed>
#define CHECKED_SETTINGS                                              \
  CHECKED_OF(heapwise::unsynchronized), CHECKED_OF(heapwise::locked), \
      CHECKED_OF(heapwise::lock_free), CHECKED_OF(heapwise::thread_cached)

template <class T, class S>
using pool_of = heapwise::typed_pool<T, typename S::pool_type>;

template <class S>
constexpr bool is_checked = std::is_same_v<typename S::checking, heapwise::checked>;

std::string line_of(const char* what, const void* block, std::size_t size) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), "heapwise: pool: %s: block %p of %zu bytes\n", what,
                block, size);
  return text.data();
}

std::string foreign_line_of(const void* address, std::size_t size) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                "heapwise: pool: free of a pointer that is not a block: address %p, in a pool of "
                "blocks of %zu bytes\n",
                address, size);
  return text.data();
}

/// Says so on standard error when it is destroyed.
struct talker {
  explicit talker(char letter) noexcept : says{letter} {}
  ~talker() { static_cast<void>(!::write(STDERR_FILENO, &says, 1)); }
  talker(const talker&) = delete;
  talker& operator=(const talker&) = delete;
  char says;
  std::array<char, 39> rest{};
};

constexpr std::size_t long_text = 1000; // does not fit into the object itself

TEST_CASE_TEMPLATE("a string destroyed twice in a row: the destructor runs once", S, SETTINGS) {
  pool_of<std::string, S> texts{8};
  std::string* const text = texts.construct(long_text, 'x');
  if constexpr (is_checked<S>) {
    const ending how = in_child([&] {
      texts.destroy(text);
      texts.destroy(text);
    });
    CHECK(how.signal == SIGABRT);
    CHECK(how.error == line_of("double free", text, sizeof(std::string)));
    CHECK(texts.destroy(text));
  } else {
    CHECK(texts.destroy(text));
    CHECK_FALSE(texts.destroy(text));
    CHECK(texts.try_construct("the block is not handed out twice") == text);
    std::string* const other = texts.try_construct("other");
    CHECK(other != text);
    CHECK(texts.destroy(other));
    CHECK(texts.destroy(text));
  }
}

TEST_CASE_TEMPLATE("destroyed twice, with others in between", S, CHECKED_SETTINGS) {
  pool_of<talker, S> talkers{8};
  talker* const a = talkers.construct('a');
  talker* const b = talkers.construct('b');
  const ending how = in_child([&] {
    talkers.destroy(a);
    talkers.destroy(b);
    talkers.destroy(a);
  });
  CHECK(how.signal == SIGABRT);
  CHECK(how.error == "ab" + line_of("double free", a, sizeof(talker)));
}

TEST_CASE_TEMPLATE("by two pointers that both own it", S, CHECKED_SETTINGS) {
  pool_of<talker, S> talkers{8};
  using owner = heapwise::pool_ptr<talker, typename S::pool_type>;
  talker* const a = talkers.construct('a');
  const ending how = in_child([&] {
    owner first{a, typename owner::deleter_type{talkers}};
    owner second{a, typename owner::deleter_type{talkers}};
  });
  CHECK(how.signal == SIGABRT);
  CHECK(how.error == "a" + line_of("double free", a, sizeof(talker)));
}

/// Destroys itself once more while it is being destroyed.
template <class S>
struct suicidal {
  explicit suicidal(pool_of<suicidal, S>& objects) noexcept : home{&objects} {}
  ~suicidal() {
    if (depth++ == 0) home->destroy(this);
  }
  static inline int depth = 0;
  pool_of<suicidal, S>* home;
};

TEST_CASE_TEMPLATE("by its own destructor", S, CHECKED_SETTINGS) {
  pool_of<suicidal<S>, S> objects{8};
  auto* const object = objects.construct(objects);
  const ending how = in_child([&] { objects.destroy(object); });
  CHECK(how.signal == SIGABRT);
  CHECK(how.error == line_of("double free", object, sizeof *object));
}

TEST_CASE_TEMPLATE("destroyed and then freed as a block, and the other way round", S,
                   CHECKED_SETTINGS) {
  pool_of<talker, S> talkers{8};
  talker* const a = talkers.construct('a');
  ending how = in_child([&] {
    talkers.destroy(a);
    talkers.blocks().deallocate(a);
  });
  CHECK(how.signal == SIGABRT);
  CHECK(how.error == "a" + line_of("double free", a, sizeof(talker)));
  how = in_child([&] {
    talkers.blocks().deallocate(a);
    talkers.destroy(a);
  });
  CHECK(how.signal == SIGABRT);
  CHECK(how.error == line_of("double free", a, sizeof(talker)));
}

TEST_CASE_TEMPLATE("by two threads at once: one destructor at most runs", S,
                   CHECKED_OF(heapwise::locked), CHECKED_OF(heapwise::lock_free),
                   CHECKED_OF(heapwise::thread_cached)) {
  pool_of<talker, S> talkers{8};
  talker* const a = talkers.construct('a');
  for (int round = 0; round < 50; ++round) {
    const ending how = in_child([&] {
      std::atomic<int> ready{0};
      const auto destroy_with_the_other = [&] {
        ++ready;
        while (ready != 2) { // spins: a wake-up would take longer than what is to overlap
        }
        talkers.destroy(a);
      };
      std::thread other{destroy_with_the_other};
      destroy_with_the_other();
      other.join();
    });
    CHECK(how.signal == SIGABRT);
    const std::string line = line_of("double free", a, sizeof(talker));
    CHECK(how.error.find(line) != std::string::npos);
    CHECK(how.error.size() - line.size() <= 1);
  }
}

TEST_CASE_TEMPLATE("a write behind the object: its destructor does not run", S, CHECKED_SETTINGS) {
  pool_of<talker, S> talkers{8};
  talker* const a = talkers.construct('a');
  for (const std::size_t offset : {sizeof(talker), sizeof(talker) + 7}) {
    const ending how = in_child([&] {
      reinterpret_cast<std::byte*>(a)[offset] ^= std::byte{1};
      talkers.destroy(a);
    });
    CHECK(how.signal == SIGABRT);
    CHECK(how.error == line_of("write behind the end of a block", a, sizeof(talker)));
  }
}

/// Changes a byte behind its own end when it is destroyed. (The bytes there are random. To write a
/// fixed value would change nothing in one process of 256.)
struct careless {
  ~careless() {
    volatile char* const behind = static_cast<volatile char*>(text.data()) + distance;
    *behind = static_cast<char>(*behind ^ 1);
  }
  std::array<char, 40> text{};
  std::size_t distance = sizeof(careless);
};

TEST_CASE_TEMPLATE("a destructor that writes behind the object", S, CHECKED_SETTINGS) {
  pool_of<careless, S> objects{8};
  careless* const object = objects.construct();
  const ending how = in_child([&] { objects.destroy(object); });
  CHECK(how.signal == SIGABRT);
  CHECK(how.error == line_of("write behind the end of a block", object, sizeof(careless)));
}

TEST_CASE_TEMPLATE("a foreign object, one within another, and one that was never made", S,
                   SETTINGS) {
  pool_of<talker, S> talkers{8};
  pool_of<talker, S> others{8};
  talker* const a = talkers.construct('a');
  talker* const other = others.construct('o');
  alignas(talker) std::array<std::byte, sizeof(talker)> nowhere{};
  for (talker* const wrong :
       {other, reinterpret_cast<talker*>(nowhere.data()), reinterpret_cast<talker*>(&a->rest[7])}) {
    const ending how = in_child([&] {
      if (talkers.destroy(wrong)) ::_exit(1);
    });
    CHECK(how.signal == (is_checked<S> ? SIGABRT : 0));
    CHECK(how.error == (is_checked<S> ? foreign_line_of(wrong, sizeof(talker)) : ""));
  }
  talker* volatile none = nullptr; // GCC warns of the destructor that is never reached
  CHECK(talkers.destroy(none));
  CHECK(talkers.destroy(a));
  CHECK(others.destroy(other));
}

/// A list whose nodes destroy what they lead to.
template <class S>
struct node {
  node(pool_of<node, S>& nodes, node* after) noexcept : home{&nodes}, next{after} {}
  ~node() { home->destroy(next); }
  pool_of<node, S>* home;
  node* next;
};

TEST_CASE_TEMPLATE("a destructor destroys other objects of its pool", S, SETTINGS) {
  pool_of<node<S>, S> nodes{100};
  for (int round = 0; round < 3; ++round) {
    node<S>* first = nullptr;
    for (int i = 0; i < 100; ++i) first = nodes.construct(nodes, first);
    CHECK(nodes.try_construct(nodes, nullptr) == nullptr);
    CHECK(nodes.destroy(first));
  }
}

TEST_CASE_TEMPLATE("objects that are constant", S, SETTINGS) {
  pool_of<const std::string, S> texts{2};
  const std::string* const text = texts.construct(long_text, 'x');
  CHECK(text->size() == long_text);
  CHECK(texts.destroy(text));
  const heapwise::pool_ptr<const std::string, typename S::pool_type> owned =
      heapwise::make_unique_in(texts, "short");
  CHECK(*owned == "short");
}

} // namespace
