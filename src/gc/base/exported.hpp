// The C API, visible outside of the library; everything else of src/gc is not.
#pragma once

#pragma GCC visibility push(default)
#include "heapwise/gc.h"
#pragma GCC visibility pop
