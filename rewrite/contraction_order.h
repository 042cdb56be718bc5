// The order in which the factors of a sum of products are multiplied.

#ifndef PLIMSOLL_REWRITE_CONTRACTION_ORDER_H_
#define PLIMSOLL_REWRITE_CONTRACTION_ORDER_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// Indices of a sum of products, a bit each.
using IndexSet = uint64_t;
inline constexpr int kMostIndices = 64;

// A product of factors, summed over all indices that are not kept: a matrix product is the factors
// {i,k} and {k,j} of which i and j are kept.
struct Contraction {
  std::vector<IndexSet> factors;
  IndexSet kept = 0;
  // The sizes of the indices.
  std::vector<int64_t> sizes;
  // Products that are there anyway.
  struct Given {
    // The factors that it is the product of, a bit each.
    uint32_t factors = 0;
    IndexSet indices = 0;
  };
  std::vector<Given> given = {};
};

// Two factors are multiplied, and indices that nobody else needs are summed; or only that, where
// there is no right one. Factors have their numbers, then come those that are given, and the step
// that comes n-th makes the next.
struct ContractionStep {
  int left = 0;
  int right = kNoFactor;
  // Of what the step makes.
  IndexSet indices = 0;

  static constexpr int kNoFactor = -1;
};

struct ContractionOrder {
  std::vector<ContractionStep> steps;
  // The number of the factor that is the result.
  int result = 0;
  double seconds = 0;
  // The elements of the largest factor that a step makes, but for the last.
  double largest = 0;
};

enum class ContractionGoal : uint8_t {
  kTime,
  // The smallest largest factor, and the least time among those.
  kSpace,
};

// How many elements a factor with these indices has.
double ElementsOf(IndexSet indices, llvm::ArrayRef<int64_t> sizes);
// How long it takes to multiply two factors and to sum what `made` does not have.
double SecondsOfStep(IndexSet left, IndexSet right, IndexSet made, llvm::ArrayRef<int64_t> sizes);

// The best of all orders up to a dozen factors; beyond, the best of those that multiply neighbours.
// There are 31 at most.
ContractionOrder OrderContraction(const Contraction& contraction, ContractionGoal goal);

}  // namespace plimsoll

#endif  // PLIMSOLL_REWRITE_CONTRACTION_ORDER_H_
