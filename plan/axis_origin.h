// Where an axis comes from, in the user's terms.

#ifndef PLIMSOLL_PLAN_AXIS_ORIGIN_H_
#define PLIMSOLL_PLAN_AXIS_ORIGIN_H_

#include <string>

#include "analysis/cut.h"
#include "ir/graph.h"

namespace plimsoll {

// "axis 0 of x" for the axis of a value that is a dimension of the function's argument x, by the
// axis rules of the ops between them; "" if it is of none.
std::string AxisOrigin(const Value& value, int dimension);

// The same for the axis of a cut: of the value that it was made for, or of another that it slices;
// else "axis 1 of tensor<8x8xf32>", the value's own.
std::string AxisOrigin(const Cut& cut);

}  // namespace plimsoll

#endif  // PLIMSOLL_PLAN_AXIS_ORIGIN_H_
