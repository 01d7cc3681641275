// Messages from one thread to another through a queue, for as long as the time allows.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/memory/mapped_array.hpp"
#include "harness/sample.hpp"
#include "sources/processors.hpp"
#include "sources/quantities.hpp"
#include "sources/waiting.hpp"

namespace concurrency {

/// A message of this many bytes: every word is its number, so that one that was mixed up is seen.
template <std::size_t Bytes>
struct message {
  static_assert(Bytes % sizeof(std::uint64_t) == 0);
  std::array<std::uint64_t, Bytes / sizeof(std::uint64_t)> words;

  [[gnu::always_inline]] void write(std::uint64_t number) noexcept { words.fill(number); }
  /// The sum of all words: all of them are read.
  [[nodiscard, gnu::always_inline]] std::uint64_t read() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words) sum += word;
    return sum;
  }
};

/// What a side does after a push or pop in vain.
struct transfer_plan {
  patience looks;
  int pauses;
};

/// One transfer: its two sides, each for a thread of its own.
template <class Message>
class transfer {
 public:
  explicit transfer(const transfer_plan& plan) noexcept : plan_{plan} {}

  /// Sends whole batches until `until_ns`.
  template <class Queue>
  void send(Queue& queue, std::span<Message> batch, std::uint64_t until_ns) {
    waiter waiting{plan_.looks, plan_.pauses};
    std::uint64_t sent = 0;
    std::uint64_t next_look = 0;
    while (sent < next_look || look(sent, next_look, until_ns)) {
      for (Message& each : batch) each.write(sent++);
      for (std::span<const Message> left = batch; !left.empty();) {
        const std::size_t taken = queue.push(left.data(), left.size());
        left = left.subspan(taken);
        if (taken == 0) waiting.wait();
      }
    }
    sent_.store(sent, std::memory_order_release); // pairs with the acquire in receive
  }

  template <class Queue>
  void receive(Queue& queue, std::span<Message> batch) {
    waiter waiting{plan_.looks, plan_.pauses};
    std::uint64_t got = 0;
    std::uint64_t sum = 0;
    std::uint64_t strange = 0;
    bool is_last_look = false;
    while (true) {
      const std::size_t the_cell = queue.pop(batch.data(), batch.size());
      if (the_cell == 0) {
        if (is_last_look) break;
        // What was pushed before the sender was done is found by the next pop.
        is_last_look = sent_.load(std::memory_order_acquire) != sending;
        if (!is_last_look) waiting.wait();
      }
      for (const Message& each : batch.first(the_cell)) {
        strange |= each.words[0] ^ got++;
        sum += each.read();
      }
    }
    got_ = got;
    sum_ = sum;
    in_order_ = strange == 0;
  }

  [[nodiscard]] std::uint64_t messages() const noexcept { return got_; }

  void check(cell& the_cell) const {
    the_cell.check("work", is_whole(), "{} messages of {} arrived, {}", got_, sent_.load(),
                   is_whole() ? "in order and whole" : "not all, out of order or torn");
  }

 private:
  /// True if all messages arrived, in order, each of them whole.
  [[nodiscard]] bool is_whole() const noexcept {
    const std::uint64_t words = sizeof(Message) / sizeof(std::uint64_t);
    return in_order_ && got_ != 0 && got_ == sent_ && sum_ == words * (got_ * (got_ - 1) / 2);
  }

  static constexpr std::uint64_t sending = UINT64_MAX;

  static bool look(std::uint64_t sent, std::uint64_t& next_look, std::uint64_t until_ns) noexcept {
    constexpr std::uint64_t between_looks = 1024;
    next_look = sent + between_looks;
    return sent == 0 || heapwise::bench::now_ns() < until_ns;
  }

  transfer_plan plan_;
  alignas(64) std::atomic<std::uint64_t> sent_{sending};
  alignas(64) std::uint64_t got_ = 0;
  std::uint64_t sum_ = 0;
  bool in_order_ = false;
};

struct transfer_result {
  std::uint64_t messages;
  std::uint64_t elapsed_ns;
};

/// Two threads with a batch of messages each, and a check of what got across.
template <class Message>
class transfer_pair {
 public:
  explicit transfer_pair(std::size_t batch) : out_{batch}, in_{batch} {}

  template <class Queue>
  transfer_result run(cell& the_cell, sample& the_sample, const processors& where,
                      const transfer_plan& plan, Queue& queue) {
    transfer<Message> all{plan};
    const std::uint64_t elapsed_ns = measure_placed(
        the_cell, the_sample, where, 2, [&all] { return all.messages(); },
        [&](team_member& member) { play(member, all, queue, duration_ns(the_cell)); });
    all.check(the_cell);
    return {all.messages(), elapsed_ns};
  }

  /// What the member with index 0 does, and the one with index 1.
  template <class Queue>
  void play(team_member& member, transfer<Message>& all, Queue& queue, std::uint64_t lasts_ns) {
    member.start();
    if (member.index() == 0) {
      all.send(queue, out_.span(), member.start_ns() + lasts_ns);
    } else {
      all.receive(queue, in_.span());
    }
    member.stop();
  }

 private:
  heapwise::bench::mapped_array<Message> out_;
  heapwise::bench::mapped_array<Message> in_;
};

} // namespace concurrency
