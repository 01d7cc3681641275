// The C API, visible outside of the library; everything else of src/heap is not.
#pragma once

#pragma GCC visibility push(default)
#include "heapwise/malloc.h"
#pragma GCC visibility pop
