// What is known of the numbers in a value beyond its shape, each with the reason why it holds.
//
// All of it is meant in exact arithmetic and for finite numbers: a library may round the two halves
// of a symmetric product differently, an exponential that is very small may be rounded to zero, and
// what is said of a value with a NaN or an infinity in it may be wrong.

#ifndef PLIMSOLL_ANALYSIS_PROPERTIES_H_
#define PLIMSOLL_ANALYSIS_PROPERTIES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/graph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

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

// What the user says of a value: a composite of the name "plimsoll.assume" with
// `composite_attributes = {property = "symmetric"}`. Nothing for other ops.
std::optional<Property> StatedProperty(const Op& op);

// All elements are in here.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  bool operator==(const Bounds&) const = default;
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
  // Why it holds ("a product with its own transpose (train.py:41)"); "" if it is not known to.
  std::string Why(const Value& value, Property property);
  // Nothing if neither bound is known.
  std::optional<Bounds> BoundsOf(const Value& value);
  // True if all elements along the dimension are equal: broadcast structure.
  bool IsConstantAlong(const Value& value, size_t dimension);
  std::optional<LowRank> LowRankOf(const Value& value);

  // To be called when ops are gone: what was remembered may be of their values.
  void Forget();

 private:
  // A property, or behind all of those a dimension along which the value is constant.
  using Fact = uint32_t;
  using Question = std::pair<const Value*, Fact>;

  static constexpr size_t kNothing = std::numeric_limits<size_t>::max();

  struct Answer {
    std::string reason;
    // The first of `assumed_` that it rests on.
    size_t assumption = kNothing;
  };

  std::string Ask(const Value& value, Fact fact);
  std::string Infer(const Value& value, Fact fact);
  // From what a loop, a branch or the user says, whatever the fact.
  std::string InferFromFlow(const Op& op, const Value& value, Fact fact);
  std::string InferCarried(const Op& loop, size_t index, Fact fact);
  std::string InferFromRules(const Value& value, Property property);
  void Confirm(size_t first, size_t assumption);
  void Retract(size_t first);
  Bounds IntervalOf(const Value& value);

  llvm::DenseMap<Question, Answer> known_;
  llvm::DenseMap<const Value*, Bounds> intervals_;
  // Asked and not answered yet.
  llvm::DenseSet<Question> open_;
  int depth_ = 0;

  // Of values that loops carry: taken as true until what the body returns has shown it.
  llvm::SmallVector<Question> assumed_;
  // The first of them that was used since the question at hand was asked.
  size_t used_assumption_ = kNothing;
  // What was answered with yes and rests on assumptions.
  llvm::SmallVector<Question> provisional_;
};

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_PROPERTIES_H_
