#include "rewrite/contraction_order.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/run_time.h"
#include "llvm/ADT/DenseMap.h"

namespace plimsoll {
namespace {

// With more factors than this, all ways to take them apart are too many.
constexpr size_t kMostExact = 12;

constexpr double kNever = std::numeric_limits<double>::infinity();

// What is known of the best way to multiply some of the factors.
struct Best {
  double seconds = kNever;
  double largest = kNever;
  // Some of the factors, whose product is multiplied by that of the others; 0 if it is one factor,
  // or given.
  uint32_t left = 0;
  // The number of the factor, or of what is given.
  int number = 0;
};

bool IsBetter(double seconds, double largest, const Best& other, ContractionGoal goal) {
  if (goal == ContractionGoal::kSpace && largest != other.largest) return largest < other.largest;
  return seconds < other.seconds;
}

class Orderer {
 public:
  Orderer(const Contraction& contraction, ContractionGoal goal)
      : contraction_(contraction), goal_(goal) {}

  // Every set of factors is the product of two smaller ones.
  ContractionOrder RunExact() {
    for (uint32_t set = 1; set <= all(); ++set) {
      const uint32_t lowest = set & (~set + 1);
      Best best = WithoutStep(set);
      // Each pair once: the one with the lowest factor is the left one.
      for (uint32_t left = (set - 1) & set; left != 0; left = (left - 1) & set) {
        if ((left & lowest) != 0) TryPair(set, left, best);
      }
      best_[set] = best;
    }
    return Finish();
  }

  // The same for factors that stand beside each other only, which is all that a chain of matrices
  // needs.
  ContractionOrder RunNeighbours() {
    const size_t count = contraction_.factors.size();
    for (size_t length = 1; length <= count; ++length) {
      const uint32_t first = (uint32_t{1} << length) - 1;
      for (size_t start = 0; start + length <= count; ++start) {
        const uint32_t set = first << start;
        Best best = WithoutStep(set);
        for (size_t cut = 1; cut < length; ++cut) {
          TryPair(set, ((uint32_t{1} << cut) - 1) << start, best);
        }
        best_[set] = best;
      }
    }
    return Finish();
  }

 private:
  double SecondsToSum(IndexSet indices) const {
    return ElementsOf(indices, contraction_.sizes) / kElementsPerSecond + kSecondsPerOp;
  }

  uint32_t all() const { return (uint32_t{1} << contraction_.factors.size()) - 1; }

  // What is there: a factor, or a product that is given; else nothing good. Indices that nobody
  // else needs are summed.
  Best WithoutStep(uint32_t set) const {
    Best best;
    const auto take = [&](size_t number, IndexSet indices) {
      const double seconds = indices == Made(set) ? 0 : SecondsToSum(indices);
      if (!IsBetter(seconds, 0, best, goal_)) return;
      best = {.seconds = seconds, .largest = 0, .left = 0, .number = static_cast<int>(number)};
    };
    const size_t count = contraction_.factors.size();
    for (size_t i = 0; i < count; ++i) {
      if (set == uint32_t{1} << i) take(i, contraction_.factors[i]);
    }
    for (size_t i = 0; i < contraction_.given.size(); ++i) {
      if (set == contraction_.given[i].factors) take(count + i, contraction_.given[i].indices);
    }
    return best;
  }

  void TryPair(uint32_t set, uint32_t left, Best& best) const {
    const uint32_t right = set ^ left;
    const Best& a = best_.at(left);
    const Best& b = best_.at(right);
    // Most pairs are worse than what was found before even without their own step.
    if (!IsBetter(a.seconds + b.seconds, std::max(a.largest, b.largest), best, goal_)) return;
    const double step = SecondsOfStep(Made(left), Made(right), Made(set), contraction_.sizes);
    const double seconds = a.seconds + b.seconds + step;
    const double elements = set == all() ? 0 : ElementsOf(Made(set), contraction_.sizes);
    const double largest = std::max({a.largest, b.largest, elements});
    if (!IsBetter(seconds, largest, best, goal_)) return;
    best = {.seconds = seconds, .largest = largest, .left = left, .number = 0};
  }

  ContractionOrder Finish() {
    order_.seconds = best_.at(all()).seconds;
    order_.largest = best_.at(all()).largest;
    order_.result = Emit(all());
    return std::move(order_);
  }

  // The indices of the product of these factors: those that somebody else needs.
  IndexSet Made(uint32_t set) const {
    IndexSet inside = 0;
    IndexSet outside = contraction_.kept;
    for (size_t i = 0; i < contraction_.factors.size(); ++i) {
      ((set >> i & 1) != 0 ? inside : outside) |= contraction_.factors[i];
    }
    return inside & outside;
  }

  int AddStep(int left, int right, IndexSet made) {
    order_.steps.push_back({.left = left, .right = right, .indices = made});
    return static_cast<int>(contraction_.factors.size() + contraction_.given.size() +
                            order_.steps.size()) -
           1;
  }

  // The number of the factor that stands for the product of these.
  int Emit(uint32_t set) {
    const Best& best = best_.at(set);
    if (best.left != 0) {
      const int left = Emit(best.left);
      const int right = Emit(set ^ best.left);
      return AddStep(left, right, Made(set));
    }
    const auto number = static_cast<size_t>(best.number);
    const size_t count = contraction_.factors.size();
    const IndexSet indices =
        number < count ? contraction_.factors[number] : contraction_.given[number - count].indices;
    if (indices == Made(set)) return best.number;
    return AddStep(best.number, ContractionStep::kNoFactor, Made(set));
  }

  const Contraction& contraction_;
  ContractionGoal goal_;
  llvm::DenseMap<uint32_t, Best> best_;
  ContractionOrder order_;
};

}  // namespace

double ElementsOf(IndexSet indices, llvm::ArrayRef<int64_t> sizes) {
  double elements = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if ((indices >> i & 1) != 0) elements *= static_cast<double>(sizes[i]);
  }
  return elements;
}

double SecondsOfStep(IndexSet left, IndexSet right, IndexSet made, llvm::ArrayRef<int64_t> sizes) {
  const double products = ElementsOf(left | right, sizes);
  const double moved = ElementsOf(left, sizes) + ElementsOf(right, sizes) + ElementsOf(made, sizes);
  // A library multiplies matrices, and matrices and vectors, which are summed over what they share;
  // the rest is a pass over all elements.
  const bool is_product = (left & right & ~made) != 0 && left != right;
  const double seconds =
      products / (is_product ? kProductsPerSecond : kElementsPerSecond) + moved / kMovedPerSecond;
  return seconds + kSecondsPerOp;
}

ContractionOrder OrderContraction(const Contraction& contraction, ContractionGoal goal) {
  if (contraction.factors.empty()) return {};
  Orderer orderer(contraction, goal);
  return contraction.factors.size() <= kMostExact ? orderer.RunExact() : orderer.RunNeighbours();
}

}  // namespace plimsoll
