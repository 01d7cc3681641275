// Why latency-lab's pool resource made 14.7 thousand operations a second.
//
// The C++ library of its machine (libc++) serves what is too large for its pools from a list of
// single blocks, newest first, and frees one by walking the list until it is found: the work of a
// free is the number of younger blocks that live. And it takes for too large whatever exceeds two
// to the number of its pools, where it should be eight times that: with largest_required_pool_block
// set to 64 there are four pools, and a block of 64 bytes goes to the list; so does one whose
// alignment exceeds that of max_align_t, which is 8 on that machine. Built against libc++ 19, a
// pool resource whose options say 64 makes about 30 thousand operations a second with 65536 blocks
// of 64 bytes alive and freed oldest first; with default options a thousand times as many, as the
// mixed-size figure of latency-lab has it. This resource does the same on every machine.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace memory {

class by_list final : public std::pmr::memory_resource {
 public:
  by_list() = default;
  by_list(const by_list&) = delete;
  by_list& operator=(const by_list&) = delete;
  ~by_list() override {
    while (newest_ != nullptr) remove(&newest_);
  }

 private:
  struct footer {
    footer* older;
    void* block;
    std::size_t bytes; ///< with the footer
  };

  void* do_allocate(std::size_t bytes, std::size_t) override {
    const std::size_t before = (bytes + alignof(footer) - 1) / alignof(footer) * alignof(footer);
    const std::size_t all = before + sizeof(footer);
    void* const block = upstream_->allocate(all);
    newest_ = ::new (static_cast<std::byte*>(block) + before) footer{newest_, block, all};
    return block;
  }

  void do_deallocate(void* block, std::size_t, std::size_t) override {
    footer** at = &newest_;
    while (*at != nullptr && (*at)->block != block) at = &(*at)->older;
    if (*at != nullptr) remove(at);
  }

  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  void remove(footer** at) {
    const footer block_footer = **at;
    *at = block_footer.older;
    upstream_->deallocate(block_footer.block, block_footer.bytes);
  }

  std::pmr::memory_resource* upstream_ = std::pmr::new_delete_resource();
  footer* newest_ = nullptr;
};

} // namespace memory
