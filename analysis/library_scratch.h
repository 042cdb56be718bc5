// What the libraries behind single HLO instructions allocate: sort, fft, top-k, LAPACK, Eigen's
// dot.

#ifndef PLIMSOLL_ANALYSIS_LIBRARY_SCRATCH_H_
#define PLIMSOLL_ANALYSIS_LIBRARY_SCRATCH_H_

#include <cstdint>

#include "analysis/hlo_text.h"

namespace plimsoll {

// How a jaxlib's sort keeps a key and a value that are sorted together.
enum class PairSort {
  // Each in sixteen bytes, whatever their type (jaxlib 0.10).
  kPadded,
  // As they are (jaxlib 0.12).
  kPacked,
};

// `instruction` is one of `computation`, in `hlo`. 0 for an instruction that takes nothing of its
// own.
int64_t LibraryScratch(const HloText& hlo, const HloComputation& computation,
                       const HloInstruction& instruction, int64_t thread_count, PairSort pair_sort);

// What BLAS touches, at most, of the buffers that it keeps below a routine of LAPACK: it packs
// pieces of the matrices.
int64_t BlasScratch(const HloComputation& computation, const HloInstruction& instruction);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_LIBRARY_SCRATCH_H_
