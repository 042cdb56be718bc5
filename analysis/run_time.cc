#include "analysis/run_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/block_view.h"
#include "analysis/indexing.h"
#include "analysis/linear_algebra.h"
#include "analysis/machine_speed.h"
#include "analysis/op_class.h"
#include "analysis/peak.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

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

// What a call says that it takes; nothing if it does not say.
std::optional<double> StatedSeconds(const Op& op) {
  const Attribute options = op.Get("backend_config");
  if (!options.Is(AttributeKind::kDictionary)) return std::nullopt;
  const Attribute seconds = options.Find(kKernelSeconds);
  if (!seconds.Is(AttributeKind::kFloat)) return std::nullopt;
  return seconds.float_value();
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

std::optional<double> KnownTurnsOf(const Op& loop) {
  // A counter that starts at a constant, grows by a constant and ends below a constant.
  const Block& condition = loop.region(0).front();
  const Block& body = loop.region(1).front();
  const Value& decision = *condition.last()->operand(0);
  const Op* compare = decision.defining_op();
  if (compare == nullptr || !compare->Is(Opcode::kCompare)) return std::nullopt;
  const Value& counter = *compare->operand(0);
  if (!counter.is_argument() || counter.block() != &condition) return std::nullopt;
  const Op* next = body.last()->operand(counter.index())->defining_op();
  if (next == nullptr || !next->Is(Opcode::kAdd)) return std::nullopt;
  const std::optional<int64_t> end = ConstantScalar(*compare->operand(1));
  const std::optional<int64_t> step = ConstantScalar(*next->operand(1));
  const int64_t start = ConstantScalar(*loop.operand(counter.index())).value_or(0);
  if (!end || !step || *step < 1) return std::nullopt;
  return std::max(0.0, static_cast<double>(*end - start) / static_cast<double>(*step));
}

double TurnsOf(const Op& loop) { return KnownTurnsOf(loop).value_or(kUnknownTurns); }

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
      if (const std::optional<double> stated = StatedSeconds(op)) return *stated;
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
      // One window after the other, on top of what is there. Equal numbers are written first, and
      // what is next reads them again: nothing is fused with a scatter.
      const size_t inputs = op.result_count();
      const double updates = ElementCount(*op.operand(inputs + 1)) * static_cast<double>(inputs);
      const double passes = IsUniform(op.operand(0)) ? 3 : 1;
      return (passes * elements + updates) / kElementsPerSecond +
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
// limits (benchmarks/squeeze), and those of loops to what single programs take with other chunks.
constexpr double kSecondsPerFused = 1e-11;
constexpr double kSecondsPerTranscendental = 4.7e-10;
constexpr double kSecondsPerProduct = 1.25e-11;
// To read the factors: what products with few rows or columns take.
constexpr double kSecondsPerFactorByte = 3e-11;
// Of products so small that calling a library takes longer, each of a batch.
constexpr double kSmallProducts = 1e5;
constexpr double kSecondsPerSmallProduct = 5e-10;
constexpr double kSecondsPerConvolved = 3.3e-11;
constexpr double kSecondsPerReduced = 9e-11;
constexpr double kSecondsPerReducedTogether = 3.2e-9;  // Several values by one body.
// A fused reduction whose code is longer than this, with all that it reduces, has no vectors: so
// much for each op that makes an element.
constexpr int64_t kMostUnrolled = 250;
constexpr double kSecondsPerScalar = 1e-10;
constexpr double kSecondsPerMoved = 4.1e-10;
constexpr double kSecondsPerSorted = 7e-8;
constexpr double kSecondsPerRanked = 1.8e-9;
// To put one of the best of a row into their heap, for each of its levels.
constexpr double kSecondsPerHeapLevel = 9e-9;
constexpr double kSecondsPerFourier = 1.7e-10;
constexpr double kSecondsPerTurn = 2e-6;
// Of loops, to start one op after the other: XLA shares the large ones among its threads, and waits
// for them.
constexpr int64_t kSharedBytes = 64 << 10;
constexpr double kSecondsPerSharedKernel = 5e-6;
constexpr double kSecondsPerKernel = 3e-6;

// Of values that are not fused: written once, and read by each user.
constexpr double kSecondsPerByte = 1.2e-11;
// The same in loops, for values that the cache does not hold from one op to the next.
constexpr int64_t kCachedBytes = 8 << 20;
constexpr double kSecondsPerFarByte = 5e-11;
// XLA takes its temporaries anew in each run, and the system hands them out page by page.
constexpr double kSecondsPerTemporaryByte = 2.7e-10;

// How many products of two matrices a product is.
double BatchOf(const Op& product) {
  double batch = 1;
  const auto dimensions =
      product.Get("dot_dimension_numbers").Find("lhs_batching_dimensions").integers();
  for (const int64_t d : dimensions) {
    batch *= static_cast<double>(product.operand(0)->type().shape()[d]);
  }
  return batch;
}

// A factor of a product of so many. Libraries bring it into their own order first, unless each
// element is used once, as with a vector: what the cache does not hold is read, written, and read
// again.
double SecondsToRead(const Value& factor, double products) {
  const int64_t bytes = BytesOf(factor);
  const double times = products > ElementCount(factor) ? 3 : 1;
  const double rate = bytes > kCachedBytes ? times * kSecondsPerFarByte : kSecondsPerFactorByte;
  return static_cast<double>(bytes) * rate * SpeedOfMachine().memory;
}

// XLA looks at every element, and keeps a heap of the best of each row: of as many as are the best
// in their turn.
double SecondsToRank(const Op& op) {
  const double elements = ElementCount(*op.operand(0));
  const double length = std::max(1.0, SizeOfLast(*op.operand(0)));
  const double best = std::clamp(SizeOfLast(*op.result(0)), 1.0, length);
  const double inserted = elements / length * best * (1 + std::log(length / best));
  return elements * kSecondsPerRanked + inserted * std::log2(best) * kSecondsPerHeapLevel;
}

// How many ops make an element that is not in memory. What is expensive and used twice is made
// once.
int64_t OpsToMake(const Value& value, const llvm::DenseSet<const Value*>& in_memory,
                  llvm::DenseSet<const Op*>& seen) {
  const Op* op = value.defining_op();
  if (op == nullptr || in_memory.contains(&value) || !seen.insert(op).second) return 0;
  const bool is_expensive = op->Is(Opcode::kDivide) || ClassOf(*op) != OpClass::kCheap;
  if (is_expensive && value.use_count() > 1) return 0;
  int64_t count = IsElementwise(*op) ? 1 : 0;
  for (const Value* operand : op->operands()) count += OpsToMake(*operand, in_memory, seen);
  return count;
}

double SecondsToReduce(const Op& op, const llvm::DenseSet<const Value*>& in_memory) {
  const double elements = ElementCount(*op.operand(0));
  if (op.result_count() > 1) return elements * kSecondsPerReducedTogether;
  if (ReducesInStages(op)) return elements * kSecondsPerReduced;
  llvm::DenseSet<const Op*> seen;
  const auto made = static_cast<double>(OpsToMake(*op.operand(0), in_memory, seen));
  const double length = elements / std::max(1.0, ElementCount(*op.result(0)));
  const bool has_vectors = length <= 1 || made * length <= kMostUnrolled;
  return elements * (kSecondsPerReduced + (has_vectors ? 0 : made * kSecondsPerScalar));
}

double SecondsInProgram(const Op& op, const llvm::DenseSet<const Value*>& in_memory) {
  double elements = 0;
  for (const Value* result : op.results()) elements += ElementCount(*result);
  switch (op.opcode()) {
    case Opcode::kDotGeneral: {
      const double products = ProductsOf(op);
      const bool is_small = products < kSmallProducts * BatchOf(op);
      return products * (is_small ? kSecondsPerSmallProduct : kSecondsPerProduct) *
                 SpeedOfMachine().products +
             SecondsToRead(*op.operand(0), products) + SecondsToRead(*op.operand(1), products);
    }
    case Opcode::kConvolution: {
      // Pictures are what cores share.
      const int64_t batch = op.Get("dimension_numbers").Find("output_batch_dimension").integer();
      const bool is_alone = op.result(0)->type().shape()[batch] == 1;
      return ProductsOf(op) * kSecondsPerConvolved * (is_alone ? 2 : 1) * SpeedOfMachine().products;
    }
    case Opcode::kReduce:
      return SecondsToReduce(op, in_memory) * SpeedOfMachine().elementwise;
    case Opcode::kReduceWindow:
      return ElementCount(*op.operand(0)) * kSecondsPerReduced;
    case Opcode::kSort:
      return ElementCount(*op.operand(0)) * kSecondsPerSorted;
    case Opcode::kChloTopK:
      return SecondsToRank(op);
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
    default:
      break;
  }
  if (!IsElementwise(op)) return SecondsOf(op);
  const bool is_cheap = ClassOf(op) == OpClass::kCheap;
  return elements * (is_cheap ? kSecondsPerFused : kSecondsPerTranscendental) *
         SpeedOfMachine().elementwise;
}

// Loops that touch less in a turn are compiled as a whole: Plimsoll tells XLA so
// (python/plimsoll/compile_options.py).
constexpr double kSmallLoopBytes = 256 << 10;

// True if XLA calls something else for the op, so that no loop around it is compiled as a whole.
bool IsCalled(const Op& op) {
  switch (op.opcode()) {
    case Opcode::kCall:
    case Opcode::kChloTopK:
    case Opcode::kCholesky:
    case Opcode::kConvolution:
    case Opcode::kCustomCall:
    case Opcode::kDotGeneral:
    case Opcode::kFft:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
    case Opcode::kTriangularSolve:
      return true;
    default:
      break;
  }
  for (size_t r = 0; r < op.region_count(); ++r) {
    if (llvm::any_of(op.region(r).front(), IsCalled)) return true;
  }
  return false;
}

// How a block is run.
struct Runner {
  bool is_loop = false;
  // Compiled as a whole: nothing has to be started.
  bool is_whole = false;
};

// Of all ops of a block, and of its loops' bodies as often as they run.
double SecondsToRun(const Block& block, Runner runner);

// To write a value and to read it again, and to start what makes it.
double SecondsInMemory(const Value& value, Runner runner) {
  const Op& op = *value.defining_op();
  // An update is made in place.
  const int64_t bytes = BytesOf(op.Is(Opcode::kDynamicUpdateSlice) ? *op.operand(1) : value);
  const bool is_shared = bytes >= kSharedBytes;
  const double start =
      runner.is_whole ? 0 : (is_shared ? kSecondsPerSharedKernel : kSecondsPerKernel);
  // A loop's state is read and written where it is used, chunk by chunk most often.
  if (op.Is(Opcode::kWhile)) return start;
  const auto touched = static_cast<double>(1 + value.use_count());
  const bool is_far = runner.is_loop && bytes > kCachedBytes;
  const double rate = is_far ? kSecondsPerFarByte : kSecondsPerByte;
  return start + touched * static_cast<double>(bytes) * rate * SpeedOfMachine().memory;
}

// What a turn of a loop reads and writes.
double TouchedBytes(const Block& body) {
  double bytes = 0;
  for (const Value* value : MaterializedValues(body)) {
    bytes += static_cast<double>(1 + value->use_count()) * static_cast<double>(BytesOf(*value));
  }
  for (const Op& op : body) {
    if (op.Is(Opcode::kWhile)) bytes += TouchedBytes(op.region(1).front());
  }
  return bytes;
}

double SecondsOfLoop(const Op& loop, Runner runner) {
  const bool is_small = !IsCalled(loop) && TouchedBytes(loop.region(1).front()) < kSmallLoopBytes;
  const Runner inside = {.is_loop = true, .is_whole = runner.is_whole || is_small};
  return TurnsOf(loop) * (kSecondsPerTurn + SecondsToRun(loop.region(1).front(), inside));
}

// Of the op alone, and of what runs inside of it as often as it runs.
double SecondsToRun(const Op& op, const llvm::DenseSet<const Value*>& in_memory, Runner runner) {
  if (op.Is(Opcode::kWhile)) return SecondsOfLoop(op, runner);
  if (!op.Is(Opcode::kCase) && !op.Is(Opcode::kIf)) return SecondsInProgram(op, in_memory);
  double most = 0;
  for (size_t r = 0; r < op.region_count(); ++r) {
    most = std::max(most, SecondsToRun(op.region(r).front(), runner));
  }
  return most;
}

double SecondsToRun(const Block& block, Runner runner) {
  double seconds = 0;
  const llvm::DenseSet<const Value*> in_memory = MaterializedValues(block);
  for (const Value* value : in_memory) seconds += SecondsInMemory(*value, runner);
  for (const Op& op : block) seconds += SecondsToRun(op, in_memory, runner);
  return seconds;
}

// The most bytes of these values of a block that exist at the same time.
int64_t MostAtOnce(const Block& block, llvm::ArrayRef<const Value*> values) {
  llvm::DenseMap<const Op*, size_t> places;
  for (const Op& op : block) places[&op] = places.size();
  // By how much it is more from one op on than before it.
  std::vector<int64_t> changes(places.size() + 1, 0);
  for (const Value* value : values) {
    const size_t begin = places.lookup(value->defining_op());
    size_t last = begin;
    for (const Op* user : value->users()) {
      while (user->block() != &block) user = user->block()->parent();
      last = std::max(last, places.lookup(user));
    }
    changes[begin] += BytesOf(*value);
    changes[last + 1] -= BytesOf(*value);
  }
  int64_t bytes = 0;
  int64_t most = 0;
  for (const int64_t change : changes) {
    bytes += change;
    most = std::max(most, bytes);
  }
  return most;
}

double SecondsToTake(int64_t temporary_bytes) {
  return static_cast<double>(temporary_bytes) * kSecondsPerTemporaryByte * SpeedOfMachine().pages;
}

}  // namespace

double SecondsOfProgram(const Block& block, int64_t temporary_bytes) {
  return SecondsToRun(block, {}) + SecondsToTake(temporary_bytes);
}

double SecondsOfPart(const Block& block, const llvm::DenseSet<const Op*>& part) {
  const Op* parent = block.parent();
  const Runner runner = {.is_loop = parent != nullptr && parent->Is(Opcode::kWhile)};
  double seconds = 0;
  const llvm::DenseSet<const Value*> in_memory = MaterializedValues(block);
  std::vector<const Value*> made;
  for (const Value* value : in_memory) {
    if (!part.contains(value->defining_op())) continue;
    seconds += SecondsInMemory(*value, runner);
    made.push_back(value);
  }
  for (const Op* op : part) seconds += SecondsToRun(*op, in_memory, runner);
  // What a turn of a loop takes, the one before had.
  if (runner.is_loop) return seconds;
  return seconds + SecondsToTake(MostAtOnce(block, made));
}

}  // namespace plimsoll
