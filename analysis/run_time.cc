#include "analysis/run_time.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "analysis/block_view.h"
#include "analysis/indexing.h"
#include "analysis/linear_algebra.h"
#include "analysis/op_class.h"
#include "analysis/peak.h"

namespace plimsoll {
namespace {

// Operations of factorisations and solves, which are less regular than products.
constexpr double kSolvedPerSecond = 2e10;
// To find the place of a window that is read or written, however small it is. Measured: scatters of
// rows of 1 and of 16 take 1.5 and 3 ns for each, and gathers as much.
constexpr double kSecondsPerWindow = 1.5e-9;
// Of a loop that does not say how often it runs.
constexpr double kUnknownTurns = 10;

double ElementCount(const Value& value) {
  return static_cast<double>(value.type().element_count().value_or(0));
}

double SizeOfLast(const Value& value) {
  const llvm::ArrayRef<int64_t> shape = value.type().shape();
  return shape.empty() ? 1 : static_cast<double>(shape.back());
}

// How many places the indices of a gather or a scatter name.
double WindowCount(const Op& op, const Value& indices) {
  const int64_t numbers = IndexingOf(op).index_vector_dim;
  const llvm::ArrayRef<int64_t> shape = indices.type().shape();
  const bool has_numbers = numbers < static_cast<int64_t>(shape.size());
  const int64_t count = has_numbers ? shape[numbers] : 1;
  return ElementCount(indices) / static_cast<double>(std::max<int64_t>(1, count));
}

// A counter that starts at a constant, grows by a constant and ends below a constant.
double TurnsOf(const Op& loop) {
  const Block& condition = loop.region(0).front();
  const Block& body = loop.region(1).front();
  const Value& decision = *condition.last()->operand(0);
  const Op* compare = decision.defining_op();
  if (compare == nullptr || !compare->Is(Opcode::kCompare)) return kUnknownTurns;
  const Value& counter = *compare->operand(0);
  if (!counter.is_argument() || counter.block() != &condition) return kUnknownTurns;
  const Op* next = body.last()->operand(counter.index())->defining_op();
  if (next == nullptr || !next->Is(Opcode::kAdd)) return kUnknownTurns;
  const std::optional<int64_t> end = ConstantScalar(*compare->operand(1));
  const std::optional<int64_t> step = ConstantScalar(*next->operand(1));
  const int64_t start = ConstantScalar(*loop.operand(counter.index())).value_or(0);
  if (!end || !step || *step < 1) return kUnknownTurns;
  return std::max(0.0, static_cast<double>(*end - start) / static_cast<double>(*step));
}

// What a call of LAPACK computes; nothing if it is another one.
std::optional<double> SolvedBy(const Op& op) {
  if (const std::optional<TriangularSolve> solve = TriangularSolveOf(op)) {
    return ElementCount(*solve->sides) * SizeOfLast(*solve->matrix);
  }
  const std::optional<Factorization> factorization = FactorizationOf(op);
  if (!factorization) return std::nullopt;
  const double cubes = ElementCount(*op.operand(0)) * SizeOfLast(*op.operand(0));
  return cubes * (factorization == Factorization::kLu ? 2 : 1) / 3;
}

// How many products of two numbers a product of matrices or a convolution is.
double ProductsOf(const Op& op) {
  const double elements = ElementCount(*op.result(0));
  if (op.Is(Opcode::kConvolution)) {
    const double kernel = ElementCount(*op.operand(1));
    const int64_t features = op.Get("dimension_numbers").Find("output_feature_dimension").integer();
    const int64_t size = op.result(0)->type().shape()[features];
    return elements * kernel / static_cast<double>(std::max<int64_t>(1, size));
  }
  // Each element of the result is a sum over what both operands share.
  double contracted = 1;
  const auto dimensions =
      op.Get("dot_dimension_numbers").Find("lhs_contracting_dimensions").integers();
  for (const int64_t d : dimensions) {
    contracted *= static_cast<double>(op.operand(0)->type().shape()[d]);
  }
  return elements * contracted;
}

}  // namespace

double FlopsOf(const Op& op) {
  switch (op.opcode()) {
    case Opcode::kDotGeneral:
    case Opcode::kConvolution:
      return 2 * ProductsOf(op);
    case Opcode::kReduce:
      return ElementCount(*op.operand(0));
    case Opcode::kCholesky:
      return ElementCount(*op.operand(0)) * SizeOfLast(*op.operand(0)) / 3;
    case Opcode::kTriangularSolve:
      return ElementCount(*op.operand(1)) * SizeOfLast(*op.operand(0));
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kBroadcastInDim:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kConcatenate:
    case Opcode::kPad:
    case Opcode::kGather:
      return 0;
    case Opcode::kCustomCall:
      if (const std::optional<double> solved = SolvedBy(op)) return *solved;
      [[fallthrough]];
    default: {
      double elements = 0;
      for (const Value* result : op.results()) elements += ElementCount(*result);
      return elements;
    }
  }
}

double SecondsOf(const Op& op) {
  double elements = 0;
  for (const Value* result : op.results()) elements += ElementCount(*result);
  switch (op.opcode()) {
    case Opcode::kDotGeneral:
    case Opcode::kConvolution: {
      double moved = elements;
      for (const Value* operand : op.operands()) moved += ElementCount(*operand);
      return ProductsOf(op) / kProductsPerSecond + moved / kMovedPerSecond;
    }
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
      return FlopsOf(op) / kSolvedPerSecond;
    case Opcode::kCustomCall:
      if (const std::optional<double> solved = SolvedBy(op)) {
        return *solved / kSolvedPerSecond + elements / kElementsPerSecond;
      }
      return elements / kElementsPerSecond;
    case Opcode::kExponential:
    case Opcode::kLog:
    case Opcode::kTanh:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kSine:
    case Opcode::kCosine:
      return elements * 4 / kElementsPerSecond;
    case Opcode::kReduce:
      return ElementCount(*op.operand(0)) / kElementsPerSecond;
    case Opcode::kSort:
    case Opcode::kChloTopK:
      return ElementCount(*op.operand(0)) * 20 / kElementsPerSecond;
    case Opcode::kWhile:
      return TurnsOf(op) * SecondsOf(op.region(1).front());
    case Opcode::kCase:
    case Opcode::kIf: {
      // What is done after a failure is rarely done.
      if (op.Is(Opcode::kIf) && CheckedFactorization(*op.operand(0)) != nullptr) {
        return SecondsOf(op.region(0).front());
      }
      double seconds = 0;
      for (size_t r = 0; r < op.region_count(); ++r) {
        seconds = std::max(seconds, SecondsOf(op.region(r).front()));
      }
      return seconds;
    }
    case Opcode::kDynamicUpdateSlice:
      return ElementCount(*op.operand(1)) / kElementsPerSecond;
    case Opcode::kGather:
      return elements / kElementsPerSecond + WindowCount(op, *op.operand(1)) * kSecondsPerWindow;
    case Opcode::kScatter: {
      // One window after the other, on top of what is there.
      const size_t inputs = op.result_count();
      const double updates = ElementCount(*op.operand(inputs + 1)) * static_cast<double>(inputs);
      return (elements + updates) / kElementsPerSecond +
             WindowCount(op, *op.operand(inputs)) * kSecondsPerWindow;
    }
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kBroadcastInDim:
    case Opcode::kReshape:
    case Opcode::kOptimizationBarrier:
      return 0;
    default:
      return elements / kElementsPerSecond;
  }
}

double SecondsOf(const Block& block) {
  double seconds = 0;
  for (const Op& op : block) seconds += SecondsOf(op) + kSecondsPerOp;
  return seconds;
}

double FlopsOf(const Block& block) {
  double flops = 0;
  for (const Op& op : block) {
    if (op.Is(Opcode::kWhile)) {
      flops += TurnsOf(op) * FlopsOf(op.region(1).front());
    } else if (op.Is(Opcode::kIf) && CheckedFactorization(*op.operand(0)) != nullptr) {
      flops += FlopsOf(op.region(0).front());
    } else if (op.Is(Opcode::kCase) || op.Is(Opcode::kIf)) {
      double most = 0;
      for (size_t r = 0; r < op.region_count(); ++r) {
        most = std::max(most, FlopsOf(op.region(r).front()));
      }
      flops += most;
    } else {
      flops += FlopsOf(op);
    }
  }
  return flops;
}

namespace {

// Rates of whole programs on two cores, fitted to the times of 84 programs as they are and under
// limits (benchmarks/squeeze). Of two ways to compute the same, the times are known to 10 percent
// (median).
constexpr double kSecondsPerFused = 1e-11;
constexpr double kSecondsPerTranscendental = 4.7e-10;
constexpr double kSecondsPerProduct = 1.25e-11;
// Of products so small that calling a library takes longer.
constexpr double kSmallProducts = 1e5;
constexpr double kSecondsPerSmallProduct = 3e-10;
constexpr double kSecondsPerConvolved = 3.3e-11;
constexpr double kSecondsPerReduced = 9e-11;
constexpr double kSecondsPerReducedTogether = 3.2e-9;  // Several values by one body.
constexpr double kSecondsPerMoved = 4.1e-10;
constexpr double kSecondsPerSorted = 7e-8;
constexpr double kSecondsPerRanked = 1.8e-9;
constexpr double kSecondsPerFourier = 1.7e-10;
constexpr double kSecondsPerKernel = 2.6e-8;
constexpr double kSecondsPerTurn = 2e-6;

// Of values that are not fused: written once, and read by each user.
constexpr double kSecondsPerByte = 1.2e-11;
// XLA takes its temporaries anew in each run, and the system hands them out page by page.
constexpr double kSecondsPerTemporaryByte = 2.7e-10;

double SecondsInProgram(const Op& op) {
  double elements = 0;
  for (const Value* result : op.results()) elements += ElementCount(*result);
  switch (op.opcode()) {
    case Opcode::kDotGeneral: {
      const double products = ProductsOf(op);
      return products * (products < kSmallProducts ? kSecondsPerSmallProduct : kSecondsPerProduct);
    }
    case Opcode::kConvolution: {
      // Pictures are what cores share.
      const int64_t batch = op.Get("dimension_numbers").Find("output_batch_dimension").integer();
      const bool is_alone = op.result(0)->type().shape()[batch] == 1;
      return ProductsOf(op) * kSecondsPerConvolved * (is_alone ? 2 : 1);
    }
    case Opcode::kReduce:
      return ElementCount(*op.operand(0)) *
             (op.result_count() > 1 ? kSecondsPerReducedTogether : kSecondsPerReduced);
    case Opcode::kReduceWindow:
      return ElementCount(*op.operand(0)) * kSecondsPerReduced;
    case Opcode::kSort:
      return ElementCount(*op.operand(0)) * kSecondsPerSorted;
    case Opcode::kChloTopK:
      return ElementCount(*op.operand(0)) * kSecondsPerRanked;
    case Opcode::kFft:
      return elements * kSecondsPerFourier;
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kConcatenate:
    case Opcode::kPad:
    case Opcode::kReverse:
    case Opcode::kTranspose:
      return elements * kSecondsPerMoved;
    case Opcode::kDynamicUpdateSlice:
      return ElementCount(*op.operand(1)) * kSecondsPerMoved;
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kBroadcastInDim:
    case Opcode::kReshape:
    case Opcode::kOptimizationBarrier:
      return 0;
    default:
      break;
  }
  if (!IsElementwise(op)) return SecondsOf(op);
  const bool is_cheap = ClassOf(op) == OpClass::kCheap;
  return elements * (is_cheap ? kSecondsPerFused : kSecondsPerTranscendental);
}

// Of all ops of a block, and of its loops' bodies as often as they run.
double SecondsToRun(const Block& block) {
  double seconds = 0;
  for (const Value* value : MaterializedValues(block)) {
    seconds += kSecondsPerKernel;
    // A loop's state is read and written where it is used, chunk by chunk most often.
    if (value->defining_op()->Is(Opcode::kWhile)) continue;
    const auto touched = static_cast<double>(1 + value->use_count());
    seconds += touched * static_cast<double>(BytesOf(*value)) * kSecondsPerByte;
  }
  for (const Op& op : block) {
    if (op.Is(Opcode::kWhile)) {
      seconds += TurnsOf(op) * (kSecondsPerTurn + SecondsToRun(op.region(1).front()));
    } else if (op.Is(Opcode::kCase) || op.Is(Opcode::kIf)) {
      double most = 0;
      for (size_t r = 0; r < op.region_count(); ++r) {
        most = std::max(most, SecondsToRun(op.region(r).front()));
      }
      seconds += most;
    } else {
      seconds += SecondsInProgram(op);
    }
  }
  return seconds;
}

}  // namespace

double SecondsOfProgram(const Block& block, int64_t temporary_bytes) {
  return SecondsToRun(block) + static_cast<double>(temporary_bytes) * kSecondsPerTemporaryByte;
}

}  // namespace plimsoll
