#include "hybrid/size_tree.hpp"

#include "os/expects.hpp"

namespace heapwise::detail::hybrids {
namespace {

using piece = best_fit::piece;

bool goes_before(const piece* left, const piece* right) noexcept {
  if (left->size_bytes != right->size_bytes) return left->size_bytes < right->size_bytes;
  return left < right;
}

/// A treap's priorities must be random, and stay the same: the address, stirred.
std::uint64_t priority(const piece* node) noexcept {
  std::uint64_t word = reinterpret_cast<std::uintptr_t>(node) * 0x9E37'79B9'7F4A'7C15u;
  word ^= word >> 32;
  return word * 0xBF58'476D'1CE4'E5B9u;
}

/// Effects: what lies below `from` is parted into what goes before `where` and what does not.
void split(piece* from, const piece* where, piece** before, piece** after) noexcept {
  while (from != nullptr) {
    if (goes_before(from, where)) {
      *before = from;
      before = &from->larger;
      from = from->larger;
    } else {
      *after = from;
      after = &from->smaller;
      from = from->smaller;
    }
  }
  *before = nullptr;
  *after = nullptr;
}

} // namespace

void insert(best_fit::piece*& root, best_fit::piece* added) noexcept {
  piece** link = &root;
  while (*link != nullptr && priority(*link) >= priority(added)) {
    expects(*link != added, "the piece is not in the tree yet");
    link = goes_before(added, *link) ? &(*link)->smaller : &(*link)->larger;
  }
  piece* const below = *link;
  *link = added;
  split(below, added, &added->smaller, &added->larger);
}

void remove(best_fit::piece*& root, best_fit::piece* node) noexcept {
  piece** link = &root;
  while (*link != node) {
    expects(*link != nullptr, "the piece is in the tree");
    link = goes_before(node, *link) ? &(*link)->smaller : &(*link)->larger;
  }
  piece* left = node->smaller;
  piece* right = node->larger;
  while (left != nullptr && right != nullptr) {
    if (priority(left) >= priority(right)) {
      *link = left;
      link = &left->larger;
      left = left->larger;
    } else {
      *link = right;
      link = &right->smaller;
      right = right->smaller;
    }
  }
  *link = left != nullptr ? left : right;
}

best_fit::piece* best_of(best_fit::piece* root, std::size_t size_bytes) noexcept {
  piece* best = nullptr;
  while (root != nullptr) {
    if (root->size_bytes >= size_bytes) {
      best = root;
      root = root->smaller;
    } else {
      root = root->larger;
    }
  }
  return best;
}

} // namespace heapwise::detail::hybrids
