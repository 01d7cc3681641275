// Two plug-ins, each with a copy of the library, use each other's pools.
// usage: plugin_host PLUGIN PLUGIN
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

namespace {

struct plugin {
  void* (*create)(std::size_t block_size, std::size_t block_count);
  void (*destroy)(void* blocks);
  void* (*take)(void* blocks);
  bool (*give)(void* blocks, void* block);
  bool (*owns)(void* blocks, const void* block);
};

void demand(bool holds, const char* what) {
  if (holds) return;
  std::printf("not true: %s\n", what);
  std::exit(1);
}

template <class Function>
void find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(dlsym(library, name));
  demand(into != nullptr, name);
}

plugin load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  demand(library != nullptr, "the plug-in can be loaded");
  plugin loaded;
  find(library, "create", loaded.create);
  find(library, "destroy", loaded.destroy);
  find(library, "take", loaded.take);
  find(library, "give", loaded.give);
  find(library, "owns", loaded.owns);
  return loaded;
}

constexpr std::size_t count = 4096;

/// All blocks that are free for this thread.
std::vector<void*> drain(const plugin& by, void* blocks) {
  std::vector<void*> all;
  while (void* const block = by.take(blocks)) {
    demand(by.owns(blocks, block), "a block belongs to the pool that gave it");
    all.push_back(block);
  }
  return all;
}

void check_complete(const std::vector<void*>& all) {
  demand(all.size() == count, "no block is lost");
  demand(std::set<void*>{all.begin(), all.end()}.size() == count, "no block is given out twice");
}

} // namespace

int main(int, char** arguments) {
  const plugin a = load(arguments[1]);
  const plugin b = load(arguments[2]);
  void* const of_a = a.create(64, count);
  void* const of_b = b.create(32, count); // in the other copy, with the same slot
  b.give(of_b, b.take(of_b));
  a.give(of_a, a.take(of_a));

  // One thread, by turns in one plug-in and in the other: it has one cache.
  for (int i = 0; i < 100'000; ++i) {
    void* const block = b.take(of_a);
    demand(a.owns(of_a, block) && !b.owns(of_b, block), "a pool gives its own blocks");
    demand(a.give(of_a, block), "the other plug-in takes the block back");
  }
  const std::vector<void*> all = drain(b, of_a);
  check_complete(all);
  for (void* const block : all) demand(b.give(of_a, block), "a free of an own block");

  // Threads that end return their caches to the pool, whichever plug-in they used.
  for (int i = 0; i < 100; ++i) {
    std::thread{[&] {
      const plugin& user = i % 2 == 0 ? a : b;
      const std::vector<void*> some = drain(user, of_a);
      for (void* const block : some) user.give(of_a, block);
    }}.join();
  }
  check_complete(drain(a, of_b));

  // Pools of each plug-in come and go in the other, while threads end.
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const plugin& maker = (i + t) % 2 == 0 ? a : b;
        const plugin& user = (i + t) % 2 == 0 ? b : a;
        void* const passing = maker.create(48, count);
        std::thread{[&] { user.give(passing, user.take(passing)); }}.join();
        check_complete(drain(user, passing));
        user.destroy(passing);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  a.destroy(of_b);
  b.destroy(of_a);
  std::puts("done");
}
