#include "kernels/cpu/find_mirrored.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/cpu/kernel_cost.h"
#include "kernels/cpu/kernel_shape.h"
#include "kernels/cpu/machine.h"
#include "kernels/mirror_program.h"
#include "kernels/tile_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace plimsoll {
namespace {

// It is thought to take at most so much of the time of all pairs.
constexpr double kMostOfTime = 0.8;

// True if half of all pairs, with what turned ones give, takes less than all of them.
bool IsFaster(const StagedProgram& program, const StagedProgram& mirrored,
              const StagesLayout& layout) {
  double all = 0;
  double half = 0;
  size_t next = 0;
  for (size_t i = 0; i < mirrored.stages.size(); ++i) {
    const std::vector<int64_t>& lengths = layout.stages[i].lengths;
    half += SecondsOnCpu(mirrored.stages[i].program, lengths) / 2;
    // Stages that only turned pairs need come behind others.
    if (mirrored.stages[i].rows != kRowAxis) continue;
    all += SecondsOnCpu(program.stages[next].program, lengths);
    ++next;
  }
  return half < kMostOfTime * all;
}

// By which the second array's numbers have to be multiplied to be those of the first: a power of
// two or its negative.
template <typename T>
std::optional<double> FactorOfNumbers(const T* first, const T* second, int64_t count) {
  const T* nonzero = std::find_if(second, second + count, [](T number) { return number != 0; });
  if (nonzero == second + count) return std::nullopt;
  const T factor = first[nonzero - second] / *nonzero;
  int exponent = 0;
  if (!std::isnormal(factor) || std::abs(std::frexp(factor, &exponent)) != T(0.5)) {
    return std::nullopt;
  }
  // By blocks, which are compared in vectors.
  constexpr int64_t kBlock = 1024;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    bool are_equal = true;
    for (int64_t i = begin; i < std::min(begin + kBlock, count); ++i) {
      are_equal &= first[i] == factor * second[i];
    }
    if (!are_equal) return std::nullopt;
  }
  return factor;
}

// The same for arrays of a kernel; nothing if there is none.
std::optional<double> FactorOf(ScalarType type, const KernelArray& first,
                               const KernelArray& second) {
  const int64_t count = ElementCount(first.shape);
  if (count != ElementCount(second.shape)) return std::nullopt;
  const auto bytes = static_cast<size_t>(count * BytesOf(type));
  if (std::memcmp(first.data, second.data, bytes) == 0) return 1;
  if (type == ScalarType::kF32) {
    return FactorOfNumbers(static_cast<const float*>(first.data),
                           static_cast<const float*>(second.data), count);
  }
  if (type == ScalarType::kF64) {
    return FactorOfNumbers(static_cast<const double*>(first.data),
                           static_cast<const double*>(second.data), count);
  }
  return std::nullopt;
}

// What is known of one kernel. Never destroyed: XLA's threads may outlive what the process destroys
// at its end.
class Candidate {
 public:
  explicit Candidate(std::string_view text) {
    StatusOr<StagedProgram> program = Read(text);
    if (!program.ok()) return;
    pairs_ = PairsOfArguments(*program);
    if (MirrorProgram(*program, pairs_)) program_ = *std::move(program);
  }

  std::optional<MirroredCall> Find(llvm::ArrayRef<KernelArray> operands,
                                   llvm::ArrayRef<KernelArray> results, int64_t scratch_bytes) {
    if (!program_) return std::nullopt;
    std::vector<ArgumentPair> equal;
    for (ArgumentPair pair : pairs_) {
      const std::optional<double> factor =
          FactorOf(TypeOf(pair.rows), operands[static_cast<size_t>(pair.rows)],
                   operands[static_cast<size_t>(pair.columns)]);
      if (!factor) continue;
      pair.factor = *factor;
      equal.push_back(pair);
    }
    const StatusOr<const CompiledStages*> stages =
        MakeFor(equal, ShapesOf(operands), ShapesOf(results));
    if (!stages.ok() || *stages == nullptr) return std::nullopt;
    std::vector<KernelShape> shapes;
    for (const CompiledKernel* kernel : (*stages)->kernels) shapes.push_back(kernel->shape);
    StatusOr<MirroredLayout> layout =
        LayOutMirrored((*stages)->program, shapes, ShapesOf(operands), ShapesOf(results));
    if (!layout.ok() || ScratchBytes(*layout, /*threads=*/1) > scratch_bytes) return std::nullopt;
    return MirroredCall{.stages = *stages, .layout = *std::move(layout)};
  }

 private:
  static StatusOr<StagedProgram> Read(std::string_view text) {
    if (IsStagesText(text)) return ReadStages(text);
    ASSIGN_OR_RETURN(TileProgram program, ReadTiles(text));
    return AsStages(std::move(program));
  }

  ScalarType TypeOf(int argument) const {
    const StagePlace place = {.kind = StagePlaceKind::kArgument, .number = argument};
    for (const Stage& stage : program_->stages) {
      const auto found = llvm::find(stage.operands, place);
      if (found == stage.operands.end()) continue;
      return stage.program.operands[static_cast<size_t>(found - stage.operands.begin())].type;
    }
    return ScalarType::kI8;
  }

  // The kernel for arguments that are equal in these pairs, compiled where it is first thought to
  // be faster; null if it is not.
  StatusOr<const CompiledStages*> MakeFor(const std::vector<ArgumentPair>& equal,
                                          const std::vector<llvm::ArrayRef<int64_t>>& operands,
                                          const std::vector<llvm::ArrayRef<int64_t>>& results) {
    const std::lock_guard lock(mutex_);
    Made& made = made_[equal];
    if (!made.program) made.program = MirrorProgram(*program_, equal);
    if (!made.program) return nullptr;
    ASSIGN_OR_RETURN(const MirroredLayout layout,
                     LayOutMirrored(*made.program, ChooseShapes(*made.program, HostMachine()),
                                    operands, results));
    if (!IsFaster(*program_, *made.program, layout.stages)) return nullptr;
    if (made.stages == nullptr) {
      ASSIGN_OR_RETURN(std::vector<const CompiledKernel*> kernels,
                       StoreOfProcess().FindAll(*made.program));
      made.stages = std::make_unique<CompiledStages>(
          CompiledStages{.program = *made.program, .kernels = std::move(kernels)});
    }
    return made.stages.get();
  }

  struct Made {
    std::optional<StagedProgram> program;
    std::unique_ptr<CompiledStages> stages;
  };

  std::optional<StagedProgram> program_;  // Of a kernel that may have the same points twice.
  std::vector<ArgumentPair> pairs_;
  std::mutex mutex_;
  std::map<std::vector<ArgumentPair>, Made> made_;
};

Candidate& CandidateOf(std::string_view program) {
  static auto* mutex = new std::mutex();
  static auto* candidates = new llvm::StringMap<std::unique_ptr<Candidate>>();
  const std::lock_guard lock(*mutex);
  std::unique_ptr<Candidate>& candidate = (*candidates)[program];
  if (candidate == nullptr) candidate = std::make_unique<Candidate>(program);
  return *candidate;
}

}  // namespace

std::optional<MirroredCall> FindMirrored(std::string_view program,
                                         llvm::ArrayRef<KernelArray> operands,
                                         llvm::ArrayRef<KernelArray> results,
                                         int64_t scratch_bytes) {
  return CandidateOf(program).Find(operands, results, scratch_bytes);
}

}  // namespace plimsoll
