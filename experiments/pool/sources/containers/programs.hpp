// Five programs that live on nodes: each is built, walked, churned and destroyed by the experiment.
//
// A program is a class template over the supply of its nodes and their size, with
// `program(std::span<const std::uint32_t> keys)` which builds it, `walk()`, which returns the sum
// of all words in its nodes, `churn(std::span<const std::uint32_t> draws)`, and `expected()`, what
// a walk must return. Keys are a permutation of the numbers below their count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include <heapwise/adapt/std_allocator.hpp>

#include "harness/memory/mapped_array.hpp"
#include "sources/containers/supplies.hpp"

namespace containers {

using keys = std::span<const std::uint32_t>;

/// What lies in a node beside the container's own words: every byte is written when it is made, and
/// read by a walk.
template <std::size_t bytes>
struct payload {
  static constexpr std::size_t words = bytes / sizeof(std::uint64_t);

  explicit payload(std::uint64_t content) noexcept { all.fill(content); }

  [[nodiscard]] std::uint64_t sum() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : all) sum += word;
    return sum;
  }

  std::array<std::uint64_t, words> all;
};

/// The payload that fills a node up; one word at least.
template <std::size_t node_bytes, std::size_t own_bytes>
using rest_of =
    payload<node_bytes >= own_bytes + 8 ? node_bytes - own_bytes : sizeof(std::uint64_t)>;

/// Own words of the nodes of libstdc++.
inline constexpr std::size_t of_list = 2 * sizeof(void*);
inline constexpr std::size_t of_tree = 4 * sizeof(void*);
inline constexpr std::size_t of_hash = sizeof(void*);

template <class Value>
node_need need_of(std::size_t own_bytes, std::size_t count) {
  return {own_bytes + sizeof(Value), heapwise::node_size_bytes<Value>(), count};
}

/// Keeps count of what a walk must find.
template <class Payload>
class account {
 public:
  void made(std::uint64_t content) noexcept { sum_ += Payload::words * content; }
  void gone(std::uint64_t content) noexcept { sum_ -= Payload::words * content; }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

/// A std::list. Churn: an element goes, and a new one comes in front of another.
template <class Supply, std::size_t node_bytes>
class list_program {
  using value = rest_of<node_bytes, of_list>;
  using list = std::list<value, typename Supply::template allocator<value>>;

 public:
  explicit list_program(keys order)
      : places_{order.size()},
        // One more: an element comes before another one goes.
        supply_{need_of<value>(of_list, order.size() + 1)},
        items_{supply_.template get<value>()} {
    for (std::size_t i = 0; i < order.size(); ++i) {
      places_[i] = items_.emplace(items_.end(), order[i]);
      account_.made(order[i]);
    }
  }

  [[nodiscard]] std::uint64_t walk() const {
    std::uint64_t sum = 0;
    for (const value& each : items_) sum += each.sum();
    return sum;
  }

  void churn(keys draws) {
    for (std::size_t i = 0; i + 1 < draws.size(); i += 2) {
      auto& place = places_[draws[i]];
      const auto before = places_[draws[i + 1]];
      account_.gone(place->all[0]);
      const auto fresh = items_.emplace(before, i);
      items_.erase(place);
      place = fresh;
      account_.made(i);
    }
  }

  [[nodiscard]] std::uint64_t expected() const { return account_.sum(); }
  static std::uint64_t allocations(std::size_t count, std::size_t draws) {
    return count + draws / 2;
  }

 private:
  heapwise::bench::mapped_array<typename list::iterator> places_;
  account<value> account_;
  Supply supply_;
  list items_;
};

/// A map of either kind. Churn: a key goes, and comes again with another value.
template <class Map, class Supply, class Payload, std::size_t own_bytes>
class map_program {
 public:
  explicit map_program(keys order)
      : supply_{need_of<typename Map::value_type>(own_bytes, order.size())},
        items_{supply_.template get<typename Map::value_type>()} {
    if constexpr (requires { items_.reserve(order.size()); }) items_.reserve(order.size());
    for (const std::uint32_t key : order) {
      items_.emplace(key, key);
      account_.made(key);
    }
  }

  [[nodiscard]] std::uint64_t walk() const {
    std::uint64_t sum = 0;
    for (const auto& [key, value] : items_) sum += value.sum();
    return sum;
  }

  void churn(keys draws) {
    for (std::size_t i = 0; i < draws.size(); i += 2) {
      const auto entry = items_.find(draws[i]);
      account_.gone(entry->second.all[0]);
      items_.erase(entry);
      items_.emplace(draws[i], i);
      account_.made(i);
    }
  }

  [[nodiscard]] std::uint64_t expected() const { return account_.sum(); }
  static std::uint64_t allocations(std::size_t count, std::size_t draws) {
    return count + draws / 2;
  }

 private:
  account<Payload> account_;
  Supply supply_;
  Map items_;
};

template <class Supply, class Payload>
using tree_of =
    std::map<std::uint64_t, Payload, std::less<>,
             typename Supply::template allocator<std::pair<const std::uint64_t, Payload>>>;
template <class Supply, class Payload>
using table_of = std::unordered_map<
    std::uint64_t, Payload, std::hash<std::uint64_t>, std::equal_to<>,
    typename Supply::template allocator<std::pair<const std::uint64_t, Payload>>>;

/// A std::map and a std::unordered_map: the key is in the node too.
template <class Supply, std::size_t node_bytes, class Payload = rest_of<node_bytes, of_tree + 8>>
using tree_program = map_program<tree_of<Supply, Payload>, Supply, Payload, of_tree>;
template <class Supply, std::size_t node_bytes, class Payload = rest_of<node_bytes, of_hash + 8>>
using table_program = map_program<table_of<Supply, Payload>, Supply, Payload, of_hash>;

/// A directed graph: each vertex knows four others. A walk reads the neighbours of every vertex, so
/// that memory is visited at random. Churn: a vertex is replaced by a new one with other edges.
template <class Supply, std::size_t node_bytes>
class graph_program {
  static constexpr std::size_t degree = 4;
  using value = rest_of<node_bytes, degree * sizeof(std::uint32_t)>;
  struct vertex {
    std::array<std::uint32_t, degree> out;
    value content;
  };
  using allocator = typename Supply::template allocator<vertex>;
  using traits = std::allocator_traits<allocator>;

 public:
  explicit graph_program(keys order)
      : at_{order.size()},
        supply_{{sizeof(vertex), sizeof(vertex), order.size()}},
        memory_{supply_.template get<vertex>()} {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t last = order.size() - 1;
      // Every vertex is the neighbour of four, so that a walk reads each four times.
      at_[i] = make({order[i], order[last - i], order[order[i]], order[last - order[i]]}, order[i]);
    }
  }
  graph_program(const graph_program&) = delete;
  graph_program& operator=(const graph_program&) = delete;
  ~graph_program() {
    for (vertex* const each : at_) remove(each);
  }

  [[nodiscard]] std::uint64_t walk() const {
    std::uint64_t sum = 0;
    for (const vertex* const each : at_) {
      for (const std::uint32_t to : each->out) sum += at_[to]->content.sum();
    }
    return sum;
  }

  void churn(keys draws) {
    for (std::size_t i = 0; i < draws.size(); i += 2) {
      vertex*& place = at_[draws[i]];
      const auto out = place->out;
      remove(place);
      place = make({out[1], out[2], out[3], out[0]}, i);
    }
  }

  [[nodiscard]] std::uint64_t expected() const { return degree * account_.sum(); }
  static std::uint64_t allocations(std::size_t count, std::size_t draws) {
    return count + draws / 2;
  }

 private:
  vertex* make(std::array<std::uint32_t, degree> out, std::uint64_t content) {
    account_.made(content);
    return std::construct_at(traits::allocate(memory_, 1), out, value{content});
  }
  void remove(vertex* old) {
    account_.gone(old->content.all[0]);
    traits::deallocate(memory_, old, 1);
  }

  heapwise::bench::mapped_array<vertex*> at_;
  account<value> account_;
  Supply supply_;
  allocator memory_;
};

/// A cache of entries by key, the least recently used of which goes first: a list of entries and an
/// index of their places. Churn asks for keys, half of which are there.
template <class Supply, std::size_t node_bytes>
class lru_program {
  using value = rest_of<node_bytes, of_list + 8>;
  struct entry {
    entry(std::uint64_t key_of, std::uint64_t content) noexcept : key{key_of}, held{content} {}
    std::uint64_t key;
    value held;
  };
  using list = std::list<entry, typename Supply::template allocator<entry>>;
  using place = std::pair<const std::uint64_t, typename list::iterator>;
  using index = std::unordered_map<std::uint64_t, typename list::iterator, std::hash<std::uint64_t>,
                                   std::equal_to<>, typename Supply::template allocator<place>>;

 public:
  explicit lru_program(keys order)
      : limit_{order.size()},
        entry_supply_{need_of<entry>(of_list, limit_)},
        place_supply_{need_of<place>(of_hash, limit_)},
        entries_{entry_supply_.template get<entry>()},
        places_{place_supply_.template get<place>()} {
    places_.reserve(limit_);
    for (const std::uint32_t key : order) insert(key, key);
  }

  [[nodiscard]] std::uint64_t walk() const {
    std::uint64_t sum = 0;
    for (const entry& each : entries_) sum += each.held.sum();
    return sum;
  }

  void churn(keys draws) {
    for (std::size_t i = 0; i < draws.size(); i += 2) {
      // Every second draw asks for a key that was never there.
      const std::uint64_t key = draws[i] + (i % 4 == 0 ? 0 : limit_ + i);
      if (const auto known = places_.find(key); known != places_.end()) {
        entries_.splice(entries_.begin(), entries_, known->second);
        continue;
      }
      account_.gone(entries_.back().held.all[0]);
      places_.erase(entries_.back().key);
      entries_.pop_back();
      insert(key, i);
    }
  }

  [[nodiscard]] std::uint64_t expected() const { return account_.sum(); }
  /// At least; keys that were put out and are asked for again come on top.
  static std::uint64_t allocations(std::size_t count, std::size_t draws) {
    return 2 * (count + draws / 4);
  }

 private:
  void insert(std::uint64_t key, std::uint64_t content) {
    entries_.emplace_front(key, content);
    places_.emplace(key, entries_.begin());
    account_.made(content);
  }

  std::size_t limit_;
  account<value> account_;
  Supply entry_supply_;
  Supply place_supply_;
  list entries_;
  index places_;
};

} // namespace containers
