#include "analysis/properties.h"

#include <iterator>

namespace plimsoll {
namespace {

// In the order of Property.
constexpr std::string_view kNames[] = {"symmetric",
                                       "positive semidefinite",
                                       "positive definite",
                                       "diagonal",
                                       "identity",
                                       "lower triangular",
                                       "upper triangular",
                                       "orthogonal",
                                       "one-hot",
                                       "permutation",
                                       "non-negative",
                                       "positive",
                                       "integer-valued",
                                       "sorted"};

}  // namespace

std::string_view PropertyName(Property property) { return kNames[static_cast<size_t>(property)]; }

std::optional<Property> PropertyFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<Property>(i);
  }
  return std::nullopt;
}

const std::string& Properties::Why(const Value& value, Property property) {
  const std::pair<const Value*, uint8_t> key = {&value, static_cast<uint8_t>(property)};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  static const std::string unknown;
  if (!open_.insert(key).second) return unknown;
  std::string reason = Infer(value, property);
  open_.erase(key);
  return known_[key] = std::move(reason);
}

std::string Properties::Infer(const Value&, Property) { return ""; }

std::optional<Bounds> Properties::BoundsOf(const Value&) { return std::nullopt; }
bool Properties::IsConstantAlong(const Value&, size_t) { return false; }
std::optional<LowRank> Properties::LowRankOf(const Value&) { return std::nullopt; }

void Properties::Forget() { known_.clear(); }

}  // namespace plimsoll
