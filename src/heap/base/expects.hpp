// The invariants of the heap are asserted as those of every other part.
#pragma once

#include "os/expects.hpp" // IWYU pragma: export
