// Threads that do not run on their own stack when a collection comes: they are in a handler on an
// alternate signal stack, or in a coroutine.
#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "gc/process.hpp"
#include "gc/surroundings.hpp"

#if HEAPWISE_HAS_BOOST_CONTEXT
#include <boost/context/fiber.hpp>
#endif

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::status_of_process;
using gc_test::survived;

namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;

/// Pages in the order signal stack, thread's stack, signal stack, with gaps that cannot be read.
class pages {
 public:
  pages() {
    all_ = static_cast<std::byte*>(::mmap(nullptr, 7 * stack_bytes, PROT_NONE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    REQUIRE(all_ != MAP_FAILED);
    for (std::byte* each : {low(), middle(), high()}) {
      REQUIRE(::mprotect(each, stack_bytes, PROT_READ | PROT_WRITE) == 0);
    }
  }
  ~pages() { ::munmap(all_, 7 * stack_bytes); }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;

  [[nodiscard]] std::byte* low() const { return all_ + 1 * stack_bytes; }
  [[nodiscard]] std::byte* middle() const { return all_ + 3 * stack_bytes; }
  [[nodiscard]] std::byte* high() const { return all_ + 5 * stack_bytes; }

 private:
  std::byte* all_;
};

/// Returns: a new block that is in no window, and whose address is on no stack.
[[gnu::noinline]] hidden new_block() {
  hidden block;
  elsewhere([&] {
    block = hidden{heapwise_gc_malloc(80)};
    for (int each = 0; each < 200; ++each) static_cast<void>(heapwise_gc_malloc(80));
  });
  return block;
}

hidden in_frame;   // a block that a function holds while a signal interrupts it
hidden in_handler; // and one that the handler holds
std::atomic<int> step;

/// Waits for the other thread to collect.
[[gnu::noinline]] void let_others_collect() {
  step = 1;
  while (step != 2) ::usleep(100);
}

void (*in_the_handler)() = nullptr;

void handle(int /*signal*/) {
  [[maybe_unused]] void* volatile held = in_handler.shown();
  in_the_handler();
  held = nullptr;
}

[[gnu::noinline]] void interrupted_on(void* signal_stack) {
  const stack_t stack{.ss_sp = signal_stack, .ss_flags = 0, .ss_size = stack_bytes / 4};
  REQUIRE(::sigaltstack(&stack, nullptr) == 0);
  struct sigaction action{};
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGUSR1, &action, nullptr);
  [[maybe_unused]] void* volatile held = in_frame.shown();
  ::raise(SIGUSR1);
  held = nullptr;
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  ::sigaltstack(&none, nullptr);
}

/// A signal stack that is an array of a function: the frames of those that it calls are below.
[[gnu::noinline]] void interrupted_on_array() {
  alignas(16) std::array<std::byte, stack_bytes / 4> stack;
  asm volatile("" : : "r"(stack.data()) : "memory");
  interrupted_on(stack.data());
}

struct thread_body {
  void (*run)(void* argument);
  void* argument;
};

void* run_registered(void* opaque) {
  const thread_body body = *static_cast<thread_body*>(opaque);
  heapwise_gc_register_thread();
  body.run(body.argument);
  heapwise_gc_unregister_thread();
  return nullptr;
}

pthread_t start_on(std::byte* stack, thread_body& body) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstack(&attributes, stack, stack_bytes);
  pthread_t thread;
  REQUIRE(::pthread_create(&thread, &attributes, run_registered, &body) == 0);
  ::pthread_attr_destroy(&attributes);
  return thread;
}

/// Returns: whether both blocks survived a collection while a thread on `stack` was in `body`.
bool survive_collection_beside(std::byte* stack, thread_body body) {
  in_frame = new_block();
  in_handler = new_block();
  step = 0;
  in_the_handler = let_others_collect;
  const pthread_t thread = start_on(stack, body);
  while (step != 1) ::usleep(100);
  heapwise_gc_collect();
  const bool both = survived(in_frame) && survived(in_handler);
  step = 2;
  ::pthread_join(thread, nullptr);
  heapwise_gc_collect();
  return both && !survived(in_frame) && !survived(in_handler);
}

// Coroutines of the C library.

ucontext_t caller_context; // static: their registers are roots
ucontext_t coroutine_context;
hidden in_coroutine;
void (*in_the_coroutine)() = nullptr;

void run_coroutine() {
  [[maybe_unused]] void* volatile held = in_coroutine.shown();
  in_the_coroutine();
  held = nullptr;
}

void make_coroutine(void* stack, std::size_t bytes) {
  ::getcontext(&coroutine_context);
  coroutine_context.uc_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = bytes};
  coroutine_context.uc_link = &caller_context;
  ::makecontext(&coroutine_context, run_coroutine, 0);
}

void run_coroutine_with_held_block(void* /*argument*/) {
  [[maybe_unused]] void* volatile held = in_frame.shown();
  ::swapcontext(&caller_context, &coroutine_context);
  held = nullptr;
}

void collect_by_allocating() {
  const std::size_t before = gc_test::statistics().collections;
  while (gc_test::statistics().collections == before) {
    static_cast<void>(heapwise_gc_malloc(10'000));
  }
}

constexpr rlim_t mib = rlim_t{1} << 20;
constexpr int deepest = 400;

/// Effects: limits the stack of the first thread. Returns: whether the system lets it.
bool limit_stack(rlim_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0) return false;
  limit.rlim_cur = bytes;
  return ::setrlimit(RLIMIT_STACK, &limit) == 0;
}

/// Returns: whether the block survived a collection that came 25 MiB down the stack, while a frame
/// in the middle held it.
[[gnu::noinline]] bool survives_below(int depth) {
  constexpr std::size_t frame_bytes = std::size_t{64} << 10;
  volatile std::byte frame[frame_bytes];
  frame[0] = std::byte{1};
  [[maybe_unused]] void* volatile held = depth == deepest / 2 ? in_frame.shown() : nullptr;
  if (depth < deepest) return survives_below(depth + 1) && frame[0] == std::byte{1};
  heapwise_gc_collect();
  return survived(in_frame);
}

void leave_coroutine() { ::swapcontext(&coroutine_context, &caller_context); }

} // namespace

TEST_CASE("a thread on a signal stack below or above its own keeps the blocks of both" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  const int status = status_of_process([] {
    heapwise_gc_init(nullptr);
    const pages memory;
    for (std::byte* each : {memory.low(), memory.high()}) {
      if (!survive_collection_beside(memory.middle(), {interrupted_on, each})) return 1;
    }
    return 0;
  });
  CHECK(status == 0);
}

TEST_CASE("a thread on a signal stack inside of its own keeps the blocks of both" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  const int status = status_of_process([] {
    heapwise_gc_init(nullptr);
    const pages memory;
    const thread_body body{[](void*) { interrupted_on_array(); }, nullptr};
    return survive_collection_beside(memory.middle(), body) ? 0 : 1;
  });
  CHECK(status == 0);
}

TEST_CASE("a thread that collects on its signal stack keeps the blocks of both stacks") {
  const int status = status_of_process([] {
    heapwise_gc_init(nullptr);
    const pages memory;
    in_frame = new_block();
    in_handler = new_block();
    in_the_handler = heapwise_gc_collect;
    for (std::byte* each : {memory.low(), memory.high()}) { // of the first thread
      interrupted_on(each);
      if (!survived(in_frame) || !survived(in_handler)) return 1;
    }
    return 0;
  });
  CHECK(status == 0);
}

TEST_CASE("a coroutine that allocates keeps its blocks and those of its thread's stack") {
  const int status = status_of_process([] {
    heapwise_gc_init(nullptr);
    const pages memory;
    in_frame = new_block();
    in_coroutine = new_block();
    static bool both;
    in_the_coroutine = [] {
      collect_by_allocating();
      both = survived(in_frame) && survived(in_coroutine);
    };
    for (const bool added : {false, true}) {
      for (std::byte* each : {memory.low(), memory.high()}) {
        both = false;
        if (added) heapwise_gc_add_stack(each, each + stack_bytes);
        make_coroutine(each, stack_bytes);
        run_coroutine_with_held_block(nullptr);
        if (added) heapwise_gc_remove_stack(each, each + stack_bytes);
        if (!both) return 1;
      }
    }
    return 0;
  });
  CHECK(status == 0);
}

TEST_CASE("a thread that is stopped in a coroutine keeps the blocks of both stacks" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  const int status = status_of_process([] {
    heapwise_gc_init(nullptr);
    const pages memory;
    const thread_body body{[](void* stack) {
                             in_coroutine = in_handler;
                             in_the_coroutine = let_others_collect;
                             make_coroutine(stack, stack_bytes);
                             run_coroutine_with_held_block(nullptr);
                           },
                           memory.low()};
    return survive_collection_beside(memory.middle(), body) ? 0 : 1;
  });
  CHECK(status == 0);
}

TEST_CASE("a coroutine that waits keeps its blocks as long as its stack is added") {
  const int status = status_of_process([] {
    heapwise_gc_init(nullptr);
    const pages memory;
    in_frame = new_block();
    in_coroutine = new_block();
    in_the_coroutine = leave_coroutine;
    if (heapwise_gc_add_stack(memory.high(), memory.high() + stack_bytes) != 0) return 1;
    make_coroutine(memory.high(), stack_bytes);
    run_coroutine_with_held_block(nullptr);
    elsewhere([] { heapwise_gc_collect(); });
    if (!survived(in_coroutine)) return 2;
    heapwise_gc_remove_stack(memory.high(), memory.high() + stack_bytes);
    coroutine_context = {}; // its registers are roots
    heapwise_gc_collect();
    return survived(in_coroutine) ? 3 : 0;
  });
  CHECK(status == 0);
}

TEST_CASE("a coroutine whose stack is an array of a function keeps the frames below it") {
  const int status = status_of_process([] {
    heapwise_gc_init(nullptr);
    alignas(16) std::array<std::byte, stack_bytes / 4> stack;
    in_frame = new_block();
    in_coroutine = new_block();
    static bool both;
    in_the_coroutine = [] {
      heapwise_gc_collect();
      both = survived(in_frame) && survived(in_coroutine);
    };
    heapwise_gc_add_stack(stack.data(), stack.data() + stack.size());
    make_coroutine(stack.data(), stack.size());
    run_coroutine_with_held_block(nullptr);
    heapwise_gc_remove_stack(stack.data(), stack.data() + stack.size());
    return both ? 0 : 1;
  });
  CHECK(status == 0);
}

TEST_CASE(
    "the first thread keeps its blocks when its stack is larger than it could be at the start" *
    doctest::skip(HEAPWISE_EMULATED)) {
  const int status = status_of_process([] {
    if (!limit_stack(8 * mib) || heapwise_gc_init(nullptr) != 0) return 1;
    in_frame = new_block();
    if (!limit_stack(64 * mib)) return 0; // the system has a lower limit
    return survives_below(0) ? 0 : 2;
  });
  CHECK(status == 0);
}

#if HEAPWISE_HAS_BOOST_CONTEXT

namespace {

/// What the how-to shows: every stack of a fiber is added as long as it lives.
class collected_stacks {
 public:
  boost::context::stack_context allocate() {
    boost::context::stack_context stack;
    void* const memory = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    stack.size = stack_bytes;
    stack.sp = static_cast<std::byte*>(memory) + stack_bytes;
    heapwise_gc_add_stack(memory, stack.sp);
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) {
    std::byte* const memory = static_cast<std::byte*>(stack.sp) - stack.size;
    heapwise_gc_remove_stack(memory, stack.sp);
    ::munmap(memory, stack.size);
  }
};

} // namespace

TEST_CASE("fibers of Boost.Context keep their blocks while one of them collects") {
  const int status = status_of_process([] {
    namespace context = boost::context;
    heapwise_gc_init(nullptr);
    constexpr std::size_t count = 20;
    std::array<hidden, count> blocks;
    for (hidden& each : blocks) each = new_block();
    std::array<context::fiber, count> fibers;
    for (std::size_t each = 0; each < count; ++each) {
      fibers[each] =
          context::fiber{std::allocator_arg, collected_stacks{}, [&, each](context::fiber&& back) {
                           [[maybe_unused]] void* volatile held = blocks[each].shown();
                           for (int round = 0; round < 3; ++round) {
                             back = std::move(back).resume();
                             if (each == 7) collect_by_allocating();
                           }
                           held = nullptr;
                           return std::move(back);
                         }};
    }
    for (int round = 0; round < 3; ++round) {
      for (context::fiber& each : fibers) each = std::move(each).resume();
      heapwise_gc_collect();
      for (const hidden each : blocks) {
        if (!survived(each)) return 1;
      }
    }
    for (context::fiber& each : fibers) {
      while (each) each = std::move(each).resume();
    }
    return heapwise::gc::the_gc.added_stacks.size() == 0 ? 0 : 2;
  });
  CHECK(status == 0);
}

#endif
