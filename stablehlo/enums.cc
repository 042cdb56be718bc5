#include "stablehlo/enums.h"

#include <algorithm>
#include <vector>

#include "llvm/ADT/StringMap.h"

namespace plimsoll {
namespace {

using Enumerators = std::vector<std::string_view>;

const Enumerators* FindEnum(std::string_view mnemonic) {
  static const auto* const table = new llvm::StringMap<Enumerators>{
      {"stablehlo.comparison_direction", {"EQ", "NE", "GE", "GT", "LE", "LT"}},
      // WEAKORDER came with StableHLO 1.21.
      {"stablehlo.comparison_type",
       {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", "WEAKORDER"}},
      {"stablehlo.fft_type", {"FFT", "IFFT", "RFFT", "IRFFT"}},
      {"stablehlo.precision", {"DEFAULT", "HIGH", "HIGHEST"}},
      {"stablehlo.rng_algorithm", {"DEFAULT", "THREE_FRY", "PHILOX"}},
      {"stablehlo.rng_distribution", {"", "UNIFORM", "NORMAL"}},
      {"stablehlo.transpose", {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}},
      {"stablehlo.result_accuracy_mode", {"DEFAULT", "HIGHEST", "TOLERANCE"}},
  };
  const auto found = table->find(mnemonic);
  return found == table->end() ? nullptr : &found->second;
}

}  // namespace

std::string_view EnumeratorName(std::string_view mnemonic, uint64_t number) {
  const Enumerators* enumerators = FindEnum(mnemonic);
  return enumerators != nullptr && number < enumerators->size() ? (*enumerators)[number] : "";
}

bool IsEnumerator(std::string_view mnemonic, std::string_view enumerator) {
  const Enumerators* enumerators = FindEnum(mnemonic);
  return enumerators != nullptr && !enumerator.empty() &&
         std::find(enumerators->begin(), enumerators->end(), enumerator) != enumerators->end();
}

}  // namespace plimsoll
