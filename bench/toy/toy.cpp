// heapwise-toy: a program with known answers. The laboratory tests itself against it.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "kernel/clock.hpp"

namespace {

constexpr std::size_t mebibyte = 1024 * 1024;

struct deed {
  const char* name;
  const char* argument;
  const char* does;
  int (*run)(long argument);
};

int touch(long amount_mib) {
  const auto size = static_cast<std::size_t>(amount_mib) * mebibyte;
  auto* bytes = static_cast<volatile char*>(std::malloc(size));
  if (bytes == nullptr) return 1;
  for (std::size_t i = 0; i < size; i += 4096) bytes[i] = 1;
  std::free(const_cast<char*>(bytes));
  return 0;
}

void wait_ns(long nanoseconds) {
  const auto until = heapwise::bench::now_ns() + static_cast<std::uint64_t>(nanoseconds);
  while (heapwise::bench::now_ns() < until) {
  }
}

int work_on(long count, long nanoseconds_per_call) {
  for (long i = 0; i < count; ++i) {
    void* block = std::malloc(64);
    asm volatile("" : : "r"(block) : "memory");
    if (nanoseconds_per_call != 0) wait_ns(nanoseconds_per_call);
    std::free(block);
  }
  return 0;
}

int calls(long count) { return work_on(count, 0); }

int slow_calls(long count) { return work_on(count, 200); }

int news(long count) {
  for (long i = 0; i < count; ++i) {
    auto* block = new char[64];
    asm volatile("" : : "r"(block) : "memory");
    delete[] block;
  }
  return 0;
}

int thread_calls(long count) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([count] { calls(count); });
  for (auto& thread : threads) thread.join();
  return 0;
}

int print(long amount_mib) {
  static char line[65536];
  std::memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\n';
  for (std::size_t left = static_cast<std::size_t>(amount_mib) * mebibyte; left != 0;) {
    const auto written = write(STDOUT_FILENO, line, left < sizeof line ? left : sizeof line);
    if (written < 0) return 1;
    left -= static_cast<std::size_t>(written);
  }
  return 0;
}

int print_pid(long) { return std::printf("%d\n", static_cast<int>(getpid())) < 0; }

int copy(long) {
  static char bytes[65536];
  for (ssize_t got = 0; (got = read(STDIN_FILENO, bytes, sizeof bytes)) > 0;) {
    if (write(STDOUT_FILENO, bytes, static_cast<std::size_t>(got)) != got) return 1;
  }
  return 0;
}

int spin(long milliseconds) {
  wait_ns(milliseconds * 1'000'000);
  return 0;
}

int hang(long) {
  while (true) pause();
}

int ignore_term(long) {
  std::signal(SIGTERM, SIG_IGN);
  return hang(0);
}

int linger(long) {
  if (fork() == 0) return ignore_term(0);
  return 0;
}

int linger_apart(long) {
  if (fork() != 0) return 0;
  setsid();
  return ignore_term(0);
}

int trail(long milliseconds) {
  const pid_t parent = getpid();
  if (fork() != 0) return 0;
  while (getppid() == parent) std::this_thread::yield();
  wait_ns(milliseconds * 1'000'000);
  return write(STDOUT_FILENO, "later\n", 6) != 6;
}

int crash(long) {
  std::raise(SIGSEGV);
  return 0;
}

int leave(long code) { return static_cast<int>(code); }

int leave_at_once(long code) {
  calls(10);
  _exit(static_cast<int>(code));
}

int fork_calls(long count) {
  calls(count);
  const pid_t child = fork();
  if (child == 0) return calls(count);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int exec_calls(long count) {
  char text[24];
  std::snprintf(text, sizeof text, "%ld", count);
  execl("/proc/self/exe", "heapwise-toy", "calls", text, nullptr);
  return 1;
}

/// A number that the self-test sets for one subject alone; 0 without it.
long set_for_subject(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtol(text, nullptr, 10) : 0;
}

/// How often a program was started with this file, this time included; 0 without a file.
long starts(const char* path) {
  if (path == nullptr) return 0;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct stat status{};
  if (file < 0 || write(file, "x", 1) != 1 || fstat(file, &status) != 0) return 0;
  close(file);
  return status.st_size;
}

/// Each process that is started with the file of HEAPWISE_TOY_STARTS sleeps longer than the one
/// before. Unlike work, a sleep does not depend on what other programs do with the processor.
int sleep_longer(long milliseconds) {
  const long factor = starts(std::getenv("HEAPWISE_TOY_STARTS"));
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds * factor));
  return factor == 0;
}

void sleep_ms(long milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// For one subject longer than for others.
int sleep_for(long milliseconds) {
  sleep_ms(milliseconds + set_for_subject("HEAPWISE_TOY_SLEEPS_MS"));
  return 0;
}

/// A process that finds the file of HEAPWISE_TOY_MARK sleeps twice as long, and removes it.
/// One with HEAPWISE_TOY_LEAVES makes it for the next process.
int after_mark(long milliseconds) {
  const char* path = std::getenv("HEAPWISE_TOY_MARK");
  if (path == nullptr) return 1;
  sleep_ms(unlink(path) == 0 ? 2 * milliseconds : milliseconds);
  if (std::getenv("HEAPWISE_TOY_LEAVES") == nullptr) return 0;
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  return file < 0 || close(file) != 0;
}

/// Steps that depend on each other, so that their number alone decides their time.
std::uint64_t mix(long steps) {
  std::uint64_t value = 1;
  for (long i = 0; i < steps; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(value));
  }
  return value;
}

// The work is the same for every subject except for what its environment says.
int work(long thousand_steps) {
  const long slower = set_for_subject("HEAPWISE_TOY_SLOWER_PERCENT");
  const long larger = set_for_subject("HEAPWISE_TOY_LARGER_PERCENT");
  const auto sum = mix(thousand_steps * 10 * (100 + slower));
  const auto size = 32 * mebibyte / 100 * static_cast<std::size_t>(100 + larger);
  auto* bytes = static_cast<volatile char*>(std::malloc(size));
  if (bytes == nullptr) return 1;
  for (std::size_t i = 0; i < size; i += 1024) bytes[i] = 1;
  calls(200'000);
  std::free(const_cast<char*>(bytes));
  sleep_for(0);
  const char* word = std::getenv("HEAPWISE_TOY_PRINTS");
  if (std::getenv("HEAPWISE_TOY_LINGERS") != nullptr) return linger(0);
  return std::printf("%s %d\n", word != nullptr ? word : "done", static_cast<int>(sum & 1)) < 0;
}

/// Hardly more than arithmetic, so that the percents of HEAPWISE_TOY_SLOWER_PERCENT are those of
/// the program; it allocates often enough for V3 to let its time count.
int compute(long thousand_steps) {
  calls(50'000);
  const auto sum =
      mix(thousand_steps * 10 * (100 + set_for_subject("HEAPWISE_TOY_SLOWER_PERCENT")));
  return std::printf("done %d\n", static_cast<int>(sum & 1)) < 0;
}

/// Ends after this time, whatever it did.
int work_for(long milliseconds) {
  const long slower = set_for_subject("HEAPWISE_TOY_SLOWER_PERCENT");
  const auto until =
      heapwise::bench::now_ns() + static_cast<std::uint64_t>(milliseconds) * 1'000'000;
  while (heapwise::bench::now_ns() < until) {
    mix(100 * (100 + slower));
    calls(1);
  }
  return 0;
}

/// What `env -i` and `su -` do to a program: the child has neither probe nor allocator.
int drop_preload(long count) {
  char text[24];
  std::snprintf(text, sizeof text, "%ld", count);
  unsetenv("LD_PRELOAD");
  execl("/proc/self/exe", "heapwise-toy", "calls", text, nullptr);
  return 1;
}

constexpr deed deeds[] = {
    {"work", "N", "mixes numbers, touches 32 MiB, allocates; HEAPWISE_TOY_* change it", work},
    {"compute", "N", "mixes numbers; HEAPWISE_TOY_SLOWER_PERCENT adds to them", compute},
    {"drop-preload", "N", "calls N after exec of itself without LD_PRELOAD", drop_preload},
    {"touch", "MIB", "touches every page of one block, then frees it", touch},
    {"calls", "N", "allocates and frees 64 bytes N times with malloc", calls},
    {"slow-calls", "N", "the same, but every call takes 200 ns longer", slow_calls},
    {"news", "N", "the same with new and delete", news},
    {"thread-calls", "N", "the same with malloc in each of four threads", thread_calls},
    {"fork-calls", "N", "the same, then once more in a forked child", fork_calls},
    {"exec-calls", "N", "the same after exec of itself", exec_calls},
    {"print", "MIB", "prints this much", print},
    {"print-pid", "", "prints another line each time", print_pid},
    {"copy", "", "copies its input to its output", copy},
    {"spin", "MS", "uses the processor this long", spin},
    {"sleep-longer", "MS", "sleeps MS more than the process before; HEAPWISE_TOY_STARTS: a file",
     sleep_longer},
    {"sleep-for", "MS", "sleeps this long, and HEAPWISE_TOY_SLEEPS_MS longer", sleep_for},
    {"after-mark", "MS", "sleeps longer after a process with HEAPWISE_TOY_LEAVES", after_mark},
    {"work-for", "MS", "mixes numbers and allocates until this time is over", work_for},
    {"hang", "", "never ends, but obeys SIGTERM", hang},
    {"ignore-term", "", "never ends and ignores SIGTERM", ignore_term},
    {"linger", "", "ends, but leaves a child that ignores SIGTERM", linger},
    {"linger-apart", "", "the same, with the child in a session of its own", linger_apart},
    {"trail", "MS", "ends, but leaves a child that works this long, then prints a line", trail},
    {"crash", "", "dies of SIGSEGV", crash},
    {"exit", "CODE", "leaves with this code", leave},
    {"leave-at-once", "CODE", "ten calls of malloc, then leaves by _exit", leave_at_once},
};

int usage(std::FILE* stream, int code) {
  std::fputs("usage: heapwise-toy DEED [NUMBER]\n", stream);
  for (const deed& each : deeds) {
    std::fprintf(stream, "  %-14s %-5s %s\n", each.name, each.argument, each.does);
  }
  return code;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) return usage(stdout, 0);
  const long argument = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 0;
  for (const deed& each : deeds) {
    if (argc > 1 && std::strcmp(argv[1], each.name) == 0) return each.run(argument);
  }
  return usage(stderr, 2);
}
