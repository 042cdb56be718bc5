// What tests of kernels share: arrays of numbers in and out, with guard pages around what a kernel
// may touch.

#ifndef PLIMSOLL_KERNELS_CPU_TESTING_H_
#define PLIMSOLL_KERNELS_CPU_TESTING_H_

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/compile_kernel.h"
#include "kernels/cpu/run_kernel.h"
#include "kernels/evaluate_tiles.h"
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

// What the kernel makes of the operands, in memory that is guarded behind each array, or before.
inline std::vector<NumberArray> RunOnNumbers(const CompiledKernel& kernel,
                                             llvm::ArrayRef<int64_t> lengths,
                                             llvm::ArrayRef<NumberArray> operands,
                                             int64_t threads = 1, bool guard_behind = true) {
  const TileProgram& program = kernel.program;
  std::vector<std::unique_ptr<GuardedBytes>> memory;
  std::vector<KernelArray> arrays;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ScalarType type = program.operands[i].type;
    const auto bytes = static_cast<size_t>(BytesOf(type));
    memory.push_back(
        std::make_unique<GuardedBytes>(operands[i].numbers.size() * bytes, guard_behind));
    for (size_t j = 0; j < operands[i].numbers.size(); ++j) {
      Encode(type, operands[i].numbers[j], memory.back()->data() + j * bytes);
    }
    arrays.push_back({.data = memory.back()->data(), .shape = operands[i].shape});
  }
  std::vector<NumberArray> results;
  for (const TileResult& result : program.results) {
    results.push_back({.shape = ShapeOf(result.array, lengths), .numbers = {}});
    size_t count = 1;
    for (const int64_t size : results.back().shape) count *= static_cast<size_t>(size);
    results.back().numbers.resize(count);
  }
  std::vector<KernelArray> result_arrays;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto bytes = static_cast<size_t>(BytesOf(program.results[i].array.type));
    memory.push_back(
        std::make_unique<GuardedBytes>(results[i].numbers.size() * bytes, guard_behind));
    result_arrays.push_back({.data = memory.back()->data(), .shape = results[i].shape});
  }
  const GuardedBytes scratch(
      static_cast<size_t>(ScratchBytes(program, kernel.shape, lengths, threads)), guard_behind);
  const Status status = RunKernel(kernel, arrays, result_arrays, {scratch.data(), scratch.size()},
                                  threads, RunOnThreads);
  EXPECT_TRUE(status.ok()) << status.ToString();
  for (size_t i = 0; i < results.size(); ++i) {
    const ScalarType type = program.results[i].array.type;
    const char* data = static_cast<const char*>(result_arrays[i].data);
    for (size_t j = 0; j < results[i].numbers.size(); ++j) {
      results[i].numbers[j] = Decode(type, data + j * static_cast<size_t>(BytesOf(type)));
    }
  }
  return results;
}

}  // namespace plimsoll::testing

#endif  // PLIMSOLL_KERNELS_CPU_TESTING_H_
