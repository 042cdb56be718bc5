// Which build of this library runs.

#ifndef PLIMSOLL_KERNELS_CPU_BUILD_ID_H_
#define PLIMSOLL_KERNELS_CPU_BUILD_ID_H_

#include <string>

namespace plimsoll {

// The linker's hash of everything in the library or program that this is linked into: our sources,
// the compiler's options, and LLVM. "" if there is none.
const std::string& BuildId();

}  // namespace plimsoll

#endif  // PLIMSOLL_KERNELS_CPU_BUILD_ID_H_
