// The sample of the blocks in use as a file: a heap profile in the format of pprof
// (proto/profile.proto of google/pprof), not compressed.
#pragma once

namespace heapwise::detail {

/// Effects: the signal of the options, if there is one, asks for a profile from now on. Called when
/// the library is loaded, after the options were read.
void prepare_profiles() noexcept;

} // namespace heapwise::detail
