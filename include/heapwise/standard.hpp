// Says in one message that a compiler works by an older standard. Included first.
#pragma once

// A file that is not there ends the compiler, which would go on for hundreds of messages.
#if defined(__cplusplus) && __cplusplus < 202002L && (defined(__GNUC__) || defined(__clang__))
#error "Heapwise needs C++20. Compile with -std=c++20 or newer."
#define HEAPWISE_NEEDS_CPP20 "compile with -std=c++20"
#include HEAPWISE_NEEDS_CPP20
#endif
