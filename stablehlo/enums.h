// StableHLO's enumerations: which number stands for which enumerator.

#ifndef PLIMSOLL_STABLEHLO_ENUMS_H_
#define PLIMSOLL_STABLEHLO_ENUMS_H_

#include <cstdint>
#include <string_view>

namespace plimsoll {

// The enumerator of that number ("" if there is none) of the enumeration with that mnemonic
// ("stablehlo.precision"). VHLO and StableHLO number them alike.
std::string_view EnumeratorName(std::string_view mnemonic, uint64_t number);

// True if `enumerator` is one of the enumeration's.
bool IsEnumerator(std::string_view mnemonic, std::string_view enumerator);

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_ENUMS_H_
