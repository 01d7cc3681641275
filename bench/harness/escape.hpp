// Guards against a compiler that removes work whose result nobody uses.
#pragma once

namespace heapwise::bench {

/// The compiler must assume that `pointer` is known to someone else from here on, and that this
/// someone read and wrote all memory that can be reached. Costs no instruction.
template <class Type>
[[gnu::always_inline]] inline void escape(Type* pointer) noexcept {
  asm volatile("" : : "r"(pointer) : "memory");
}

/// The compiler must finish all stores before, and redo all loads after.
[[gnu::always_inline]] inline void clobber() noexcept { asm volatile("" : : : "memory"); }

/// The compiler must compute `value`.
template <class Type>
[[gnu::always_inline]] inline void keep(const Type& value) noexcept {
  asm volatile("" : : "r,m"(value) : "memory");
}

/// The compiler must forget what it knows of `value`, an integer or a pointer; it stays in its
/// register. Between two steps of a chain it keeps them two.
template <class Type>
[[gnu::always_inline]] inline void forget(Type& value) noexcept {
  asm volatile("" : "+r"(value));
}

/// One byte stored into the block: what even the least user of a block does.
[[gnu::always_inline]] inline void touch(void* block) noexcept {
  *static_cast<volatile unsigned char*>(block) = 1;
}

} // namespace heapwise::bench
