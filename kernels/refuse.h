// How the makers of kernels say that something is left to XLA.

#ifndef PLIMSOLL_KERNELS_REFUSE_H_
#define PLIMSOLL_KERNELS_REFUSE_H_

#include "ir/status.h"

namespace plimsoll {

template <typename... Parts>
Status Refuse(const Parts&... parts) {
  return Status(ErrorCode::kNotUnderstood, StrCat(parts...));
}

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_REFUSE_H_
