// The recorder's calls of the C library that a thread may be cancelled in.
#pragma once

#include <pthread.h>

namespace heapwise::bench {

/// While it lives, the thread is not cancelled. malloc and free are not cancellation points, and
/// the program need not be prepared for an end there; but open, read and nanosleep are. Such an end
/// would also leave what the recorder is about to do undone.
class no_cancellation {
 public:
  no_cancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~no_cancellation() { pthread_setcancelstate(before_, nullptr); }
  no_cancellation(const no_cancellation&) = delete;
  no_cancellation& operator=(const no_cancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

} // namespace heapwise::bench
