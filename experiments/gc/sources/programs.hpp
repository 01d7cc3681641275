// Six programs that keep about as much as they throw away. Each is a template over its memory, has
// a constructor that builds it, `step`, which replaces a part, and `sum`, which reads all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "harness/random.hpp"

namespace heapwise::bench::gcs {

/// A hash table with chains: a step removes the oldest entry of a bucket, or adds one.
template <class Memory>
class hash_churn {
 public:
  explicit hash_churn(std::size_t entries, random_numbers& random)
      : buckets_{entries}, table_{Memory::template make_array<pointer>(entries)} {
    for (std::size_t i = 0; i < entries; ++i) add(random.below(buckets_), i);
  }

  void step(random_numbers& random, std::size_t number) {
    const std::size_t from = random.below(buckets_);
    if (table_[from] == nullptr) return;
    pointer oldest = std::move(table_[from]);
    table_[from] = std::move(oldest->next);
    Memory::drop(oldest);
    add(random.below(buckets_), number);
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < buckets_; ++i) {
      for (const pointer* each = &table_[i]; *each != nullptr; each = &(*each)->next) {
        sum += (*each)->here;
      }
    }
    return sum;
  }

 private:
  struct entry;
  using pointer = typename Memory::template pointer<entry>;

  struct entry {
    pointer next;
    std::uint64_t here; ///< 1: what is counted
    std::uint64_t data[4];
  };

  /// At the end of the chain, so that the oldest is found first.
  void add(std::size_t bucket, std::size_t number) {
    pointer* place = &table_[bucket];
    while (*place != nullptr) place = &(*place)->next;
    *place = Memory::template make<entry>();
    (*place)->here = 1;
    (*place)->data[0] = number;
  }

  std::size_t buckets_;
  typename Memory::template array<pointer> table_;
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
  long_list(const long_list&) = delete;
  long_list& operator=(const long_list&) = delete;
  ~long_list() { // one by one: a node that frees the next one would take a frame for each
    while (first_ != nullptr) remove_first();
  }

  void step(random_numbers&, std::size_t) {
    remove_first();
    append();
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (const pointer* each = &first_; *each != nullptr; each = &(*each)->next) {
      sum += (*each)->here;
    }
    return sum;
  }

 private:
  struct node;
  using pointer = typename Memory::template pointer<node>;

  struct node {
    pointer next;
    std::uint64_t here;
  };

  void remove_first() {
    pointer first = std::move(first_);
    first_ = std::move(first->next);
    first->next = nullptr; // or an address left on a stack would keep all that came after it
    Memory::drop(first);
  }

  void append() {
    pointer added = Memory::template make<node>();
    added->here = 1;
    (first_ == nullptr ? first_ : last_->next) = added;
    last_ = std::move(added);
  }

  pointer first_ = nullptr;
  pointer last_ = nullptr;
};

/// Arrays of 1,000 addresses of small blocks: a step replaces one array and half of its blocks.
template <class Memory>
class pointer_arrays {
 public:
  explicit pointer_arrays(std::size_t blocks, random_numbers&)
      : arrays_{blocks / width + 1}, table_{Memory::template make_array<leaves>(arrays_)} {
    for (std::size_t i = 0; i < arrays_; ++i) {
      table_[i] = Memory::template make_array<pointer>(width);
      for (std::size_t j = 0; j < width; ++j) table_[i][j] = new_leaf();
    }
  }

  /// One step is a thousandth of an array's replacement, so that steps of programs are alike.
  void step(random_numbers& random, std::size_t number) {
    if (number % width != 0) return;
    const std::size_t chosen = random.below(arrays_);
    leaves old = std::move(table_[chosen]);
    leaves next = Memory::template make_array<pointer>(width);
    table_[chosen] = next;
    for (std::size_t j = 0; j < width; ++j) {
      if (j % 2 == 0) {
        next[j] = std::move(old[j]);
      } else {
        Memory::drop(old[j]);
        next[j] = new_leaf();
      }
    }
    Memory::drop(old);
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < arrays_; ++i) {
      for (std::size_t j = 0; j < width; ++j) sum += table_[i][j]->here;
    }
    return sum / width * width;
  }

 private:
  static constexpr std::size_t width = 1000;
  struct leaf {
    std::uint64_t here;
    std::uint64_t data[7];
  };
  using pointer = typename Memory::template pointer<leaf>;
  using leaves = typename Memory::template array<pointer>;

  static pointer new_leaf() {
    pointer object = Memory::template make<leaf>();
    object->here = 1;
    return object;
  }

  std::size_t arrays_;
  typename Memory::template array<leaves> table_;
};

/// A graph without directions: a vertex has a list of its edges, and each edge is a block at either
/// end, which know each other. A step takes a vertex out, with its edges, and puts another in that
/// has as many, to any others.
template <class Memory>
class graph {
 public:
  explicit graph(std::size_t blocks, random_numbers& random)
      : count_{blocks / blocks_of_vertex + 2},
        table_{Memory::template make_array<pointer>(count_)} {
    for (std::size_t i = 0; i < count_; ++i) table_[i] = new_vertex();
    for (std::size_t i = 0; i < count_; ++i) connect(i, edges_of_new, random);
  }
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  ~graph() { // edges lead back to where they come from: reference counts would never free them
    for (std::size_t i = 0; i < count_; ++i) disconnect(*table_[i]);
  }

  /// A vertex has as many blocks on average that are replaced with it, so that steps of programs
  /// are alike.
  void step(random_numbers& random, std::size_t number) {
    if (number % replaced_with_vertex != 0) return;
    const std::size_t chosen = random.below(count_);
    pointer old = std::move(table_[chosen]);
    const std::size_t edges = disconnect(*old);
    Memory::drop(old);
    table_[chosen] = new_vertex();
    connect(chosen, edges, random);
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      sum += table_[i]->here;
      for (const edge_pointer* each = &table_[i]->edges; *each != nullptr; each = &(*each)->next) {
        sum += (*each)->target->here;
      }
    }
    return sum;
  }

 private:
  static constexpr std::size_t edges_of_new = 4;
  static constexpr std::size_t blocks_of_vertex = 1 + 2 * edges_of_new;
  static constexpr std::size_t replaced_with_vertex = 1 + 4 * edges_of_new;

  struct vertex;
  struct edge_end;
  using pointer = typename Memory::template pointer<vertex>;
  using edge_pointer = typename Memory::template pointer<edge_end>;

  struct edge_end {
    edge_pointer next;
    edge_end* before; ///< nullptr: it is the first one of its vertex
    edge_end* other;
    vertex* target;
  };

  struct vertex {
    edge_pointer edges;
    std::uint64_t here; ///< 1: what is counted
    std::uint64_t data[2];
  };

  static pointer new_vertex() {
    pointer object = Memory::template make<vertex>();
    object->here = 1;
    return object;
  }

  static edge_end& add_end(vertex& from, vertex& to) {
    edge_pointer added = Memory::template make<edge_end>();
    added->target = &to;
    added->next = std::move(from.edges);
    if (added->next != nullptr) added->next->before = &*added;
    from.edges = std::move(added);
    return *from.edges;
  }

  void connect(std::size_t from, std::size_t edges, random_numbers& random) {
    for (std::size_t i = 0; i < edges; ++i) {
      const std::size_t to = (from + 1 + random.below(count_ - 1)) % count_;
      edge_end& here = add_end(*table_[from], *table_[to]);
      edge_end& there = add_end(*table_[to], *table_[from]);
      here.other = &there;
      there.other = &here;
    }
  }

  static void remove_end(vertex& from, const edge_end& end) {
    edge_pointer& place = end.before == nullptr ? from.edges : end.before->next;
    edge_pointer edge = std::move(place);
    place = std::move(edge->next);
    if (place != nullptr) place->before = edge->before;
    Memory::drop(edge);
  }

  /// Returns: how many edges the vertex had.
  static std::size_t disconnect(vertex& from) {
    std::size_t edges = 0;
    for (; from.edges != nullptr; ++edges) {
      remove_end(*from.edges->target, *from.edges->other);
      remove_end(from, *from.edges);
    }
    return edges;
  }

  std::size_t count_;
  typename Memory::template array<pointer> table_;
};

/// Texts of 16 to 271 bytes, which hold no addresses: a step replaces one.
template <class Memory>
class texts {
 public:
  explicit texts(std::size_t count, random_numbers& random)
      : count_{count}, table_{Memory::template make_array<text>(count)} {
    for (std::size_t i = 0; i < count_; ++i) table_[i] = new_text(random);
  }

  void step(random_numbers& random, std::size_t) {
    text& place = table_[random.below(count_)];
    Memory::drop(place);
    place = new_text(random);
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += static_cast<unsigned char>(table_[i][0]);
    return sum;
  }

 private:
  using text = typename Memory::template array<char>;

  static text new_text(random_numbers& random) {
    const std::size_t bytes = 16 + random.below(256);
    text content = Memory::make_text(bytes);
    std::memset(&content[0], 1, bytes);
    return content;
  }

  std::size_t count_;
  typename Memory::template array<text> table_;
};

} // namespace heapwise::bench::gcs
