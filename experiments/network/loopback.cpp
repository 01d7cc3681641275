// TCP and Unix sockets on one machine: a stream of messages, and one message there and back.
//
// build: with_sanitizers
#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/processes/two_sides.hpp"
#include "harness/rate.hpp"
#include "sources/connection.hpp"

namespace {

using namespace networks;

/// What one end writes from and reads into; a message begins with its number.
class talker {
 public:
  talker(const descriptor& end, std::size_t bytes) : end_{end.number()}, message_{bytes} {}

  [[nodiscard]] bool send(std::uint64_t number) const noexcept {
    std::memcpy(message_.data(), &number, sizeof number);
    return write_all(end_, message_.data(), message_.size());
  }

  void pack(bool whole_packets) const noexcept { cork(end_, whole_packets); }

  [[nodiscard]] bool receive(std::uint64_t& number) const noexcept {
    if (!read_all(end_, message_.data(), message_.size())) return false;
    std::memcpy(&number, message_.data(), sizeof number);
    return true;
  }

 private:
  int end_;
  mapped_array<char> message_;
};

constexpr std::uint64_t number_of(std::uint64_t i) noexcept { return 2 * i + 1; }
constexpr std::uint64_t answer_to(std::uint64_t number) noexcept { return number ^ 0xff00ff00U; }

/// The other side of a stream sends; of a ping-pong it answers what it gets.
bool other_end(const talker& end, std::uint64_t count, bool ping_pong) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t number = number_of(i);
    if (ping_pong && !end.receive(number)) return false;
    if (!end.send(ping_pong ? answer_to(number) : number)) return false;
  }
  return true;
}

/// How many messages came, each with the number that it must have.
std::uint64_t this_end(const talker& end, std::uint64_t count, bool ping_pong) noexcept {
  std::uint64_t right = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t number = 0;
    if (ping_pong && !end.send(number_of(i))) return right;
    if (!end.receive(number)) return right;
    right += number == (ping_pong ? answer_to(number_of(i)) : number_of(i)) ? 1 : 0;
  }
  return right;
}

/// How often a thread of this process slept.
std::uint64_t sleeps() noexcept {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_nvcsw);
}

template <connection (*connect)() noexcept, bool corked = false>
void measure(cell& the_cell) {
  const connection ends = connect();
  if (!ends.valid()) the_cell.refuse("network", "the kernel does not let this process connect so");
  const bool ping_pong = the_cell.text("shape") == "ping_pong";
  if (corked && ping_pong) the_cell.refuse("shape", "a round trip has no next message to wait for");
  const std::size_t bytes = std::max(the_cell.size("bytes"), sizeof(std::uint64_t));
  // A round trip is two wake-ups; a message of a stream is hardly ever one.
  const std::uint64_t count = std::max(the_cell.size("messages") / (ping_pong ? 10 : 1), 1UL);
  const talker here{ends.here, bytes};
  const talker there{ends.there, bytes};
  const cpu_list allowed = cpu_list::of_this_thread();
  the_cell.each_repeat([&](sample& the_sample) {
    other_side other{other_side::kind::thread, allowed, [&there, count, ping_pong] {
                       if (corked) there.pack(true);
                       const bool ended = other_end(there, count, ping_pong);
                       if (corked) there.pack(false);
                       return ended;
                     }};
    std::uint64_t right = 0;
    const std::uint64_t slept = sleeps();
    const std::uint64_t elapsed_ns = the_sample.measure(count, [&] {
      other.let_go();
      right = this_end(here, count, ping_pong);
    });
    const bool ended = other.end();
    the_sample.set(rate_name, millions_per_second(count, elapsed_ns));
    the_sample.set_processor_time(count);
    the_sample.set("sleeps", static_cast<double>(sleeps() - slept) / static_cast<double>(count));
    the_cell.check("work", ended && right == count, "{} right messages of {}", right, count);
    the_cell.check("placement", other.placed(),
                   "each side on a processor of its own, if there are");
  });
}

const experiment question{
    .id = "network/loopback",
    .question = "What does it cost to talk to a neighbour over TCP rather than a Unix socket?",
    .isolates =
        "The kernel's way from one socket to the other, without a network: messages of one size, "
        "as a stream one way or one at a time there and back. Each side is a thread on a "
        "processor of its own.",
    .not_shown =
        "A network. Many connections, readiness (epoll), sending without copies. A round trip is "
        "mostly two sleeping threads that are woken: what that takes depends on how deeply the "
        "processors slept, and on a virtual machine also on its host. A stream over TCP is slow "
        "by its packets, one for each message: in whole packets (tcp_corked, tcp_joined) it "
        "carried 5.5 times as much on an AMD EPYC with 2 processors and took a fifth of the "
        "processor time, about as little as over Unix sockets. Beside other load that gain "
        "vanished in one run. tcp_joined has Nagle's delay, which joins messages only while the "
        "other side is slow to confirm. The report latency-lab sets no option and sends 8 bytes: "
        "its "
        "figures stand beside tcp_joined with 8 bytes. One write and at least one read for each "
        "message: "
        "programs that batch get more.",
    .parameters = {{"shape",
                    "stream (one way) or ping_pong (there and back)",
                    {"stream", "ping_pong"},
                    {"stream", "ping_pong"}},
                   {"bytes", "of a message", {64}, {64}, "bytes", 8},
                   {"messages",
                    "of a stream in the timed region; a tenth as many round trips",
                    {20'000},
                    {1000}}},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one message or one round trip"},
                   processor_time,
                   {"sleeps", "x", better::lower, "how often one of the two sides slept"}},
    .subjects = {{"tcp", "TCP over 127.0.0.1", measure<over_tcp<false>>},
                 {"tcp_joined", "the same, messages may share a packet", measure<over_tcp<true>>},
                 {"tcp_corked", "a stream in whole packets", measure<over_tcp<false>, true>},
                 {"unix_stream", "Unix stream sockets", measure<over_unix>}},
    .baseline = "tcp",
    .expectations = {{.says = "round trips are at most half as many as messages of a stream",
                      .quantity = rate_name,
                      .subject = "unix_stream",
                      .over = "unix_stream",
                      .parameters = {{"shape", "ping_pong"}},
                      .over_parameters = {{"shape", "stream"}},
                      .at_most = 0.5}},
    .answers = {{.quantity = "throughput", .subject = "unix_stream", .over = "tcp"},
                {.quantity = "processor_time",
                 .subject = "tcp_corked",
                 .over = "tcp",
                 .parameters = {{"shape", "stream"}}},
                {.quantity = "throughput", .subject = "tcp_joined", .over = "tcp"}},
    .work_parameters = {"shape"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
