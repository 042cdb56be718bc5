// Types and attributes as JSON, for callers that have no other way to look into them.

#ifndef PLIMSOLL_COMPILE_JSON_H_
#define PLIMSOLL_COMPILE_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ir/attribute.h"
#include "ir/graph.h"
#include "ir/type.h"

namespace plimsoll {

// Keeps the order in which members were added.
using Json = nlohmann::ordered_json;

// The text with each byte that is not UTF-8 replaced by U+FFFD, because JSON holds nothing else.
std::string ToUtf8(std::string_view text);

// {"kind": "tensor", "text": ..., "shape": [2, null], "element_type": "f32", "bytes": ...}
Json ToJson(Type type);

// Numbers, booleans, strings, lists and dictionaries as JSON's own, structs as objects, the rest as
// MLIR text.
Json ToJson(Attribute attribute);

// The op's attributes, inherent ones first.
Json AttributesToJson(const Op& op);

}  // namespace plimsoll

#endif  // PLIMSOLL_COMPILE_JSON_H_
