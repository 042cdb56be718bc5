// What tests of kernels share: arrays of numbers in and out, with guard pages around what a kernel
// may touch.

#ifndef PLIMSOLL_KERNELS_CPU_TESTING_H_
#define PLIMSOLL_KERNELS_CPU_TESTING_H_

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/compile_kernel.h"
#include "kernels/cpu/run_kernel.h"
#include "kernels/cpu/run_loop.h"
#include "kernels/evaluate_loop.h"
#include "kernels/evaluate_tiles.h"
#include "kernels/loop_text.h"
#include "kernels/staged_program.h"
#include "kernels/tile_text.h"
#include "llvm/ADT/APFloat.h"

namespace plimsoll::testing {

// Memory that ends where the next page must not be touched, or begins there.
class GuardedBytes {
 public:
  GuardedBytes(size_t size, bool at_end) : size_(size) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t inner = (size + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    base_ =
        static_cast<char*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (inner > 0) mprotect(base_ + page, inner, PROT_READ | PROT_WRITE);
    data_ = base_ + page + (at_end ? inner - size : 0);
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { munmap(base_, mapped_); }

  char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  size_t mapped_ = 0;
  char* base_ = nullptr;
  char* data_ = nullptr;
};

inline const llvm::fltSemantics& SemanticsOf(ScalarType type) {
  switch (type) {
    case ScalarType::kBF16:
      return llvm::APFloat::BFloat();
    case ScalarType::kF16:
      return llvm::APFloat::IEEEhalf();
    case ScalarType::kF32:
      return llvm::APFloat::IEEEsingle();
    default:
      return llvm::APFloat::IEEEdouble();
  }
}

inline void Encode(ScalarType type, double number, char* to) {
  uint64_t bits = 0;
  if (IsFloat(type)) {
    llvm::APFloat value(number);
    bool is_inexact = false;
    value.convert(SemanticsOf(type), llvm::APFloat::rmNearestTiesToEven, &is_inexact);
    bits = value.bitcastToAPInt().getZExtValue();
  } else {
    bits = static_cast<uint64_t>(static_cast<int64_t>(number));
  }
  std::memcpy(to, &bits, static_cast<size_t>(BytesOf(type)));
}

inline double Decode(ScalarType type, const char* from) {
  uint64_t bits = 0;
  const auto bytes = static_cast<size_t>(BytesOf(type));
  std::memcpy(&bits, from, bytes);
  if (IsFloat(type)) {
    llvm::APFloat value(SemanticsOf(type), llvm::APInt(8 * static_cast<unsigned>(bytes), bits));
    bool is_inexact = false;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &is_inexact);
    return value.convertToDouble();
  }
  if (IsUnsigned(type) || type == ScalarType::kI1) return static_cast<double>(bits);
  const auto shift = static_cast<int>(64 - 8 * bytes);
  return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
}

// The number as an element of the type holds it.
inline double RoundTo(ScalarType type, double number) {
  char bytes[8];
  Encode(type, number, bytes);
  return Decode(type, bytes);
}

inline void RunOnThreads(int64_t count, int64_t workers, RunTask task) {
  std::atomic<int64_t> next = 0;
  std::vector<std::thread> threads;
  for (int64_t worker = 0; worker < workers; ++worker) {
    threads.emplace_back([&, worker] {
      for (int64_t i = next++; i < count; i = next++) task(i, worker);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

inline std::unique_ptr<CompiledKernel> Compile(std::string_view text) {
  const StatusOr<TileProgram> program = ReadTiles(text);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  if (!program.ok()) return nullptr;
  StatusOr<std::unique_ptr<CompiledKernel>> kernel = CompileKernel(*program);
  EXPECT_TRUE(kernel.ok()) << kernel.status().ToString();
  return kernel.ok() ? *std::move(kernel) : nullptr;
}

// An array in memory that is guarded behind it, or before.
class GuardedArray {
 public:
  GuardedArray(ScalarType type, const NumberArray& array, bool guard_behind)
      : type_(type),
        shape_(array.shape),
        count_(array.numbers.size()),
        bytes_(count_ * static_cast<size_t>(BytesOf(type)), guard_behind) {
    for (size_t i = 0; i < count_; ++i) Encode(type, array.numbers[i], At(i));
  }

  KernelArray array() const { return {.data = bytes_.data(), .shape = shape_}; }

  NumberArray Read() const {
    NumberArray array = {.shape = shape_, .numbers = {}};
    for (size_t i = 0; i < count_; ++i) array.numbers.push_back(Decode(type_, At(i)));
    return array;
  }

 private:
  char* At(size_t i) const { return bytes_.data() + i * static_cast<size_t>(BytesOf(type_)); }

  ScalarType type_;
  std::vector<int64_t> shape_;
  size_t count_;
  GuardedBytes bytes_;
};

// All of an array's elements 0.
inline NumberArray Zeros(std::vector<int64_t> shape) {
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  return {.shape = std::move(shape), .numbers = std::vector<double>(count, 0)};
}

// Each stage as a whole, one after the other.
inline std::vector<NumberArray> EvaluateStages(const StagedProgram& program,
                                               const std::vector<NumberArray>& arguments) {
  std::vector<NumberArray> arrays[] = {arguments, {}, {}};
  for (const Stage& stage : program.stages) {
    std::vector<int64_t> lengths;
    for (const TileAxis& axis : stage.program.axes)
      lengths.push_back(std::max<int64_t>(1, axis.length));
    std::vector<NumberArray> operands;
    for (size_t i = 0; i < stage.operands.size(); ++i) {
      const StagePlace& place = stage.operands[i];
      operands.push_back(
          arrays[static_cast<size_t>(place.kind)][static_cast<size_t>(place.number)]);
      for (size_t j = 0; j < operands.back().shape.size(); ++j) {
        const int axis = stage.program.operands[i].axes[j];
        if (axis != kNoAxis) lengths[static_cast<size_t>(axis)] = operands.back().shape[j];
      }
    }
    const std::vector<NumberArray> results = Evaluate(stage.program, lengths, operands);
    for (size_t i = 0; i < results.size(); ++i) {
      arrays[static_cast<size_t>(stage.results[i].kind)].push_back(results[i]);
    }
  }
  return arrays[static_cast<size_t>(StagePlaceKind::kResult)];
}

inline ScalarType TypeOf(const StagedProgram& program, StagePlaceKind kind, size_t number) {
  const StagePlace wanted = {.kind = kind, .number = static_cast<int>(number)};
  for (const Stage& stage : program.stages) {
    for (size_t i = 0; i < stage.operands.size(); ++i) {
      if (stage.operands[i] == wanted) return stage.program.operands[i].type;
    }
    for (size_t i = 0; i < stage.results.size(); ++i) {
      if (stage.results[i] == wanted) return stage.program.results[i].array.type;
    }
  }
  return ScalarType::kF32;
}

// Operands and results of one call.
struct GuardedCall {
  std::vector<std::unique_ptr<GuardedArray>> memory;
  std::vector<KernelArray> operands;
  std::vector<KernelArray> results;

  void AddOperand(ScalarType type, const NumberArray& array, bool guard_behind) {
    memory.push_back(std::make_unique<GuardedArray>(type, array, guard_behind));
    operands.push_back(memory.back()->array());
  }
  void AddResult(ScalarType type, std::vector<int64_t> shape, bool guard_behind) {
    memory.push_back(std::make_unique<GuardedArray>(type, Zeros(std::move(shape)), guard_behind));
    results.push_back(memory.back()->array());
  }
  std::vector<NumberArray> Results() const {
    std::vector<NumberArray> read;
    for (size_t i = operands.size(); i < memory.size(); ++i) read.push_back(memory[i]->Read());
    return read;
  }
};

// What the kernel makes of the operands.
inline std::vector<NumberArray> RunOnNumbers(const CompiledKernel& kernel,
                                             llvm::ArrayRef<int64_t> lengths,
                                             llvm::ArrayRef<NumberArray> operands,
                                             int64_t threads = 1, bool guard_behind = true) {
  const TileProgram& program = kernel.program;
  GuardedCall call;
  for (size_t i = 0; i < operands.size(); ++i) {
    call.AddOperand(program.operands[i].type, operands[i], guard_behind);
  }
  for (const TileResult& result : program.results) {
    call.AddResult(result.array.type, ShapeOf(result.array, lengths), guard_behind);
  }
  const GuardedBytes scratch(
      static_cast<size_t>(ScratchBytes(program, kernel.shape, lengths, threads)), guard_behind);
  const Status status = RunKernel(kernel, call.operands, call.results,
                                  {scratch.data(), scratch.size()}, threads, RunOnThreads);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return call.Results();
}

// The same for a loop. Arrays with steps have so many of them.
inline std::vector<NumberArray> RunOnNumbers(const CompiledLoop& loop, int64_t batch, int64_t steps,
                                             llvm::ArrayRef<NumberArray> operands,
                                             int64_t threads = 1, bool guard_behind = true) {
  GuardedCall call;
  for (size_t i = 0; i < operands.size(); ++i) {
    call.AddOperand(loop.program.operands[i].type, operands[i], guard_behind);
  }
  for (const LoopResult& result : loop.program.results) {
    call.AddResult(result.array.type, ShapeOf(result.array, batch, steps), guard_behind);
  }
  const Status status = RunLoop(loop, call.operands, call.results, threads, RunOnThreads);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return call.Results();
}

inline std::unique_ptr<CompiledLoop> CompileLoopText(std::string_view text) {
  const StatusOr<LoopProgram> program = ReadLoop(text);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  if (!program.ok()) return nullptr;
  StatusOr<std::unique_ptr<CompiledLoop>> loop = CompileLoop(*program);
  EXPECT_TRUE(loop.ok()) << loop.status().ToString();
  return loop.ok() ? *std::move(loop) : nullptr;
}

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_KERNELS_CPU_TESTING_H_
