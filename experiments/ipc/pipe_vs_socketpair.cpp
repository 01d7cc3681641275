// Messages through a pipe and through pairs of Unix sockets.
//
// build: aligned_loops, with_sanitizers
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "harness/memory/mapped_array.hpp"
#include "harness/processes/descriptor.hpp"
#include "sources/messages.hpp"

namespace {

using namespace ipc;

/// What each side writes from and reads into; a message begins with its text.
struct buffers {
  explicit buffers(cell& the_cell)
      : bytes{std::max(the_cell.size("bytes"), sizeof(std::uint64_t))}, out{bytes}, in{bytes} {}
  std::size_t bytes;
  mapped_array<char> out;
  mapped_array<char> in;
};

void measure_between(cell& the_cell, int from, int to) {
  const buffers both{the_cell};
  measure_messages(
      the_cell,
      [&both, to](std::uint64_t i) {
        const std::uint64_t text = text_of(i);
        std::memcpy(both.out.data(), &text, sizeof text);
        return write_all(to, both.out.data(), both.bytes);
      },
      [&both, from] {
        std::uint64_t text = 0;
        if (read_all(from, both.in.data(), both.bytes)) {
          std::memcpy(&text, both.in.data(), sizeof text);
        }
        return text;
      });
}

void measure_pipe(cell& the_cell) {
  int ends[2];
  if (pipe(ends) != 0) the_cell.refuse("pipe", "the kernel gives no pipe");
  const descriptor from{ends[0]};
  const descriptor to{ends[1]};
  measure_between(the_cell, from.number(), to.number());
}

template <int type>
void measure_sockets(cell& the_cell) {
  int ends[2];
  if (socketpair(AF_UNIX, type, 0, ends) != 0) {
    the_cell.refuse("socketpair", "the kernel gives no pair of Unix sockets of this kind");
  }
  const descriptor from{ends[0]};
  const descriptor to{ends[1]};
  measure_between(the_cell, from.number(), to.number());
}

const experiment question{
    .id = "ipc/pipe_vs_socketpair",
    .question = "Is a pipe or a pair of Unix sockets faster for messages one way?",
    .isolates =
        "One write and one read for each message, through the kernel. Each side is kept on a "
        "processor of its own, and sleeps when there is nothing to take or no room.",
    .not_shown =
        "Both directions at once, which only sockets have; many writers; passing descriptors. How "
        "far the sender may run ahead differs: a pipe holds 64 KiB, a socket's buffer about 200 "
        "KiB of memory, where a small message takes more than its bytes. Threads share their table "
        "of files, and pay a little for it in every call. The messages of the report latency-lab "
        "have 8 bytes.",
    .parameters = {between,
                   {"bytes", "of a message", {64, 4096}, {64}, "bytes", 8},
                   {"messages", "in the timed region", {20'000}, {1000}}},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one message taken"}},
    .subjects = {{"pipe", "pipe", measure_pipe},
                 {"socketpair", "Unix stream sockets", measure_sockets<SOCK_STREAM>},
                 {"socketpair_seqpacket", "Unix sequenced packets",
                  measure_sockets<SOCK_SEQPACKET>}},
    .baseline = "pipe",
    .expectations = {{.says = "a pair of stream sockets is at most as fast as a pipe",
                      .quantity = rate_name,
                      .subject = "socketpair",
                      .over = "pipe",
                      .at_most = 1.0}},
    .answers = {{.quantity = "throughput", .subject = "socketpair", .over = "pipe"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
