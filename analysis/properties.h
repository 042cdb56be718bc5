// What is known of the numbers in a value beyond its shape, each with the reason why it holds.

#ifndef PLIMSOLL_ANALYSIS_PROPERTIES_H_
#define PLIMSOLL_ANALYSIS_PROPERTIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/graph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace plimsoll {

// Of matrices: the last two dimensions of a value, for each index of those before them.
enum class Property : uint8_t {
  kSymmetric,  // Of complex numbers: equal to its transpose, not conjugated.
  kPositiveSemidefinite,
  kPositiveDefinite,
  kDiagonal,
  kIdentity,
  kLowerTriangular,
  kUpperTriangular,
  kOrthogonal,   // Its columns are orthonormal.
  kOneHot,       // Each row has one 1 at most, and zeros.
  kPermutation,  // One 1 in each row and column, and zeros.
  // Of values of any rank:
  kNonNegative,
  kPositive,
  kIntegerValued,
  kSorted,  // Ascending along the last dimension.
};

// "positive definite"
std::string_view PropertyName(Property property);
std::optional<Property> PropertyFromName(std::string_view name);

// All elements are in here.
struct Bounds {
  double least;
  double most;
};

// A matrix that is a product of two thin ones: left (n x r) times right (r x m), r smaller than n
// and m. Both are values of the program.
struct LowRank {
  Value* left;
  Value* right;
  // The dimensions of `left` and `right` that are summed over.
  size_t left_dimension;
  size_t right_dimension;
};

// Asks are answered when they are made, by looking at what makes the value, and are remembered.
class Properties {
 public:
  bool Has(const Value& value, Property property) { return !Why(value, property).empty(); }
  // Why it holds ("a product with its own transpose, train.py:41"); "" if it is not known to.
  const std::string& Why(const Value& value, Property property);
  std::optional<Bounds> BoundsOf(const Value& value);
  // True if all elements along the dimension are equal: broadcast structure.
  bool IsConstantAlong(const Value& value, size_t dimension);
  std::optional<LowRank> LowRankOf(const Value& value);

  // To be called when the program has changed: what was remembered may be of values that are gone.
  void Forget();

 private:
  std::string Infer(const Value& value, Property property);

  llvm::DenseMap<std::pair<const Value*, uint8_t>, std::string> known_;
  // Asked and not answered yet: a loop's value depends on itself.
  llvm::DenseSet<std::pair<const Value*, uint8_t>> open_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_PROPERTIES_H_
