#include "rewrite/contraction_order.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace plimsoll {
namespace {

// Rates of a processor core or two; only ratios matter (plan/run_time.h).
constexpr double kProductsPerSecond = 5e10;
constexpr double kElementsPerSecond = 1e9;
// What a step takes even if it has next to nothing to do.
constexpr double kSecondsPerStep = 1e-6;
// With more factors than this, all ways to take them apart are too many.
constexpr size_t kMostExact = 12;

constexpr double kNever = std::numeric_limits<double>::infinity();

// What is known of the best way to multiply some of the factors.
struct Best {
  double seconds = kNever;
  double largest = kNever;
  uint32_t left = 0;
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
    const size_t count = contraction_.factors.size();
    const uint32_t all = (uint32_t{1} << count) - 1;
    best_.resize(size_t{all} + 1);
    made_.resize(size_t{all} + 1);
    for (uint32_t set = 1; set <= all; ++set) {
      made_[set] = Made(set);
      if ((set & (set - 1)) == 0) {
        best_[set] = {.seconds = 0, .largest = 0, .left = 0};
        continue;
      }
      const double elements = set == all ? 0 : ElementsOf(made_[set], contraction_.sizes);
      const uint32_t lowest = set & (~set + 1);
      // Each pair once: the one with the lowest factor is the left one.
      for (uint32_t left = (set - 1) & set; left != 0; left = (left - 1) & set) {
        if ((left & lowest) == 0) continue;
        const uint32_t right = set ^ left;
        const double seconds =
            best_[left].seconds + best_[right].seconds +
            SecondsOfStep(made_[left], made_[right], made_[set], contraction_.sizes);
        const double largest = std::max({best_[left].largest, best_[right].largest, elements});
        if (IsBetter(seconds, largest, best_[set], goal_)) {
          best_[set] = {.seconds = seconds, .largest = largest, .left = left};
        }
      }
    }
    order_.seconds = best_[all].seconds;
    order_.largest = best_[all].largest;
    Emit(all);
    return std::move(order_);
  }

  // Always the pair whose product is the smallest beside what it takes away.
  ContractionOrder RunGreedy() {
    std::vector<std::pair<int, IndexSet>> left;
    for (size_t i = 0; i < contraction_.factors.size(); ++i) {
      left.emplace_back(static_cast<int>(i), contraction_.factors[i]);
    }
    while (left.size() > 1) {
      size_t best_a = 0;
      size_t best_b = 1;
      double least = kNever;
      for (size_t a = 0; a < left.size(); ++a) {
        for (size_t b = a + 1; b < left.size(); ++b) {
          const IndexSet made = MadeOf(left, a, b);
          const double grown = ElementsOf(made, contraction_.sizes) -
                               ElementsOf(left[a].second, contraction_.sizes) -
                               ElementsOf(left[b].second, contraction_.sizes);
          if (grown < least) {
            least = grown;
            best_a = a;
            best_b = b;
          }
        }
      }
      const IndexSet made = MadeOf(left, best_a, best_b);
      order_.seconds +=
          SecondsOfStep(left[best_a].second, left[best_b].second, made, contraction_.sizes);
      if (left.size() > 2) {
        order_.largest = std::max(order_.largest, ElementsOf(made, contraction_.sizes));
      }
      const int number = AddStep(left[best_a].first, left[best_b].first, made);
      left[best_a] = {number, made};
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(best_b));
    }
    return std::move(order_);
  }

 private:
  // The indices of the product of these factors: those that somebody else needs.
  IndexSet Made(uint32_t set) const {
    IndexSet inside = 0;
    IndexSet outside = contraction_.kept;
    for (size_t i = 0; i < contraction_.factors.size(); ++i) {
      ((set >> i & 1) != 0 ? inside : outside) |= contraction_.factors[i];
    }
    return inside & outside;
  }

  IndexSet MadeOf(const std::vector<std::pair<int, IndexSet>>& factors, size_t a, size_t b) const {
    IndexSet outside = contraction_.kept;
    for (size_t i = 0; i < factors.size(); ++i) {
      if (i != a && i != b) outside |= factors[i].second;
    }
    return (factors[a].second | factors[b].second) & outside;
  }

  int AddStep(int left, int right, IndexSet made) {
    order_.steps.push_back({.left = left, .right = right, .indices = made});
    return static_cast<int>(contraction_.factors.size() + order_.steps.size()) - 1;
  }

  // The number of the factor that stands for the product of these.
  int Emit(uint32_t set) {
    if ((set & (set - 1)) == 0) return __builtin_ctz(set);
    const int left = Emit(best_[set].left);
    const int right = Emit(set ^ best_[set].left);
    return AddStep(left, right, made_[set]);
  }

  const Contraction& contraction_;
  ContractionGoal goal_;
  std::vector<Best> best_;
  std::vector<IndexSet> made_;
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
  // A library multiplies where two factors are summed over what they share; the rest is a pass over
  // all elements.
  const bool is_product = (left & right & ~made) != 0;
  const double seconds = products / (is_product ? kProductsPerSecond : kElementsPerSecond) +
                         moved / kElementsPerSecond;
  return seconds + kSecondsPerStep;
}

ContractionOrder OrderContraction(const Contraction& contraction, ContractionGoal goal) {
  if (contraction.factors.size() < 2) return {};
  Orderer orderer(contraction, goal);
  return contraction.factors.size() <= kMostExact ? orderer.RunExact() : orderer.RunGreedy();
}

}  // namespace plimsoll
