// Five programs that keep about as much as they throw away. Each is a template over its memory, has
// a constructor that builds it, `step`, which replaces a part, and `sum`, which reads all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

#include "harness/random.hpp"

namespace heapwise::bench::gcs {

/// A hash table with chains: a step removes the oldest entry of a bucket, or adds one.
template <class Memory>
class hash_churn {
 public:
  explicit hash_churn(std::size_t entries, random_numbers& random)
      : buckets_{entries}, table_{new_array(entries)} {
    for (std::size_t i = 0; i < entries; ++i) add(random.below(buckets_), i);
  }

  void step(random_numbers& random, std::size_t number) {
    const std::size_t from = random.below(buckets_);
    if (entry* const oldest = table_[from]) {
      table_[from] = oldest->next;
      Memory::drop(oldest);
      add(random.below(buckets_), number);
    }
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < buckets_; ++i) {
      for (const entry* each = table_[i]; each != nullptr; each = each->next) found += each->here;
    }
    return found;
  }

 private:
  struct entry {
    entry* next;
    std::uint64_t here; ///< 1: what is counted
    std::uint64_t data[4];
  };

  static entry** new_array(std::size_t count) {
    return static_cast<entry**>(Memory::block(count * sizeof(entry*)));
  }

  /// At the end of the chain, so that the oldest is found first.
  void add(std::size_t bucket, std::size_t number) {
    entry** place = &table_[bucket];
    while (*place != nullptr) place = &(*place)->next;
    auto* const added = static_cast<entry*>(Memory::block(sizeof(entry)));
    added->here = 1;
    added->data[0] = number;
    *place = added;
  }

  std::size_t buckets_;
  entry** table_;
};

/// The hash table, changed by threads that come and go, one at a time, for a thousand steps each.
template <class Memory>
class thread_churn {
 public:
  explicit thread_churn(std::size_t entries, random_numbers& random) : table_{entries, random} {}

  void step(random_numbers& random, std::size_t number) {
    if (number % width != 0) return;
    std::thread{[&] {
      Memory::in_thread([&] {
        for (std::size_t i = 0; i < width; ++i) table_.step(random, number + i);
      });
    }}.join();
  }

  [[nodiscard]] std::uint64_t sum() const { return table_.sum(); }

 private:
  static constexpr std::size_t width = 1000;

  hash_churn<Memory> table_;
};

/// A list, from whose beginning nodes go while others come at its end.
template <class Memory>
class long_list {
 public:
  explicit long_list(std::size_t nodes, random_numbers&) {
    for (std::size_t i = 0; i < nodes; ++i) append();
  }

  void step(random_numbers&, std::size_t) {
    node* const gone = first_;
    first_ = gone->next;
    gone->next = nullptr; // or an address left on a stack would keep all that came after it
    Memory::drop(gone);
    append();
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t found = 0;
    for (const node* each = first_; each != nullptr; each = each->next) found += each->here;
    return found;
  }

 private:
  struct node {
    node* next;
    std::uint64_t here;
  };

  void append() {
    auto* const added = static_cast<node*>(Memory::block(sizeof(node)));
    added->here = 1;
    if (first_ == nullptr) {
      first_ = added;
    } else {
      last_->next = added;
    }
    last_ = added;
  }

  node* first_ = nullptr;
  node* last_ = nullptr;
};

/// Arrays of 1,000 addresses of small blocks: a step replaces one array and half of its blocks.
template <class Memory>
class pointer_arrays {
 public:
  explicit pointer_arrays(std::size_t blocks, random_numbers&)
      : arrays_{blocks / width + 1},
        table_{static_cast<leaf***>(Memory::block(arrays_ * sizeof(leaf**)))} {
    for (std::size_t i = 0; i < arrays_; ++i) {
      table_[i] = new_array();
      for (std::size_t j = 0; j < width; ++j) table_[i][j] = new_leaf();
    }
  }

  /// One step is a thousandth of an array's replacement, so that steps of programs are alike.
  void step(random_numbers& random, std::size_t number) {
    if (number % width != 0) return;
    const std::size_t chosen = random.below(arrays_);
    leaf** const old = table_[chosen];
    leaf** const next = new_array();
    table_[chosen] = next;
    for (std::size_t j = 0; j < width; ++j) {
      if (j % 2 == 0) {
        next[j] = old[j];
      } else {
        Memory::drop(old[j]);
        next[j] = new_leaf();
      }
    }
    Memory::drop(old);
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < arrays_; ++i) {
      for (std::size_t j = 0; j < width; ++j) found += table_[i][j]->here;
    }
    return found / width * width;
  }

 private:
  static constexpr std::size_t width = 1000;
  struct leaf {
    std::uint64_t here;
    std::uint64_t data[7];
  };

  static leaf** new_array() { return static_cast<leaf**>(Memory::block(width * sizeof(leaf*))); }
  static leaf* new_leaf() {
    auto* const made = static_cast<leaf*>(Memory::block(sizeof(leaf)));
    made->here = 1;
    return made;
  }

  std::size_t arrays_;
  leaf*** table_;
};

/// Texts of 16 to 271 bytes, which hold no addresses: a step replaces one.
template <class Memory>
class texts {
 public:
  explicit texts(std::size_t count, random_numbers& random)
      : count_{count}, table_{static_cast<char**>(Memory::block(count * sizeof(char*)))} {
    for (std::size_t i = 0; i < count_; ++i) table_[i] = new_text(random);
  }

  void step(random_numbers& random, std::size_t) {
    char*& place = table_[random.below(count_)];
    Memory::drop(place);
    place = new_text(random);
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < count_; ++i) found += static_cast<unsigned char>(table_[i][0]);
    return found;
  }

 private:
  static char* new_text(random_numbers& random) {
    const std::size_t bytes = 16 + random.below(256);
    auto* const made = static_cast<char*>(Memory::text(bytes));
    std::memset(made, 1, bytes);
    return made;
  }

  std::size_t count_;
  char** table_;
};

} // namespace heapwise::bench::gcs
