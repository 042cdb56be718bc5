// The tables at the start of MLIR bytecode: strings, dialects, op names, and the attributes and
// types, which are read when they are first asked for.

#ifndef PLIMSOLL_STABLEHLO_BYTECODE_TABLES_H_
#define PLIMSOLL_STABLEHLO_BYTECODE_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "ir/context.h"
#include "ir/graph.h"
#include "ir/status.h"
#include "ir/type.h"
#include "stablehlo/byte_cursor.h"
#include "stablehlo/limits.h"

namespace plimsoll {

struct BytecodeOpName {
  std::string_view dialect;
  std::string_view name;       // Without the dialect.
  std::string_view full_name;  // "vhlo.add_v1"
  bool is_registered = true;   // Known to the writer, which decides how its properties are encoded.
};

class BytecodeTables {
 public:
  // `version` stands for the input's version in error messages: "StableHLO_v1.17.0".
  BytecodeTables(Context& context, std::string_view version, size_t input_size)
      : context_(context), version_(version), text_budget_(TextBudget(input_size)) {}

  Status ReadStrings(ByteCursor section);
  Status ReadDialects(ByteCursor section);
  // The sections kAttrTypeOffset and kAttrType.
  Status ReadAttributeOffsets(ByteCursor offsets, ByteCursor data);
  Status ReadResources(ByteCursor offsets, ByteCursor data, std::vector<Resource>& resources);
  Status ReadProperties(ByteCursor section);

  Context& context() const { return context_; }
  std::string_view version() const { return version_; }
  StatusOr<BytecodeOpName> TakeOpName(ByteCursor& cursor) const;

  // Parts of an encoded attribute, type or op: an index into a table, or a value.
  StatusOr<std::string_view> TakeString(ByteCursor& cursor) const;
  StatusOr<Attribute> TakeAttribute(ByteCursor& cursor);
  // Null if it is absent.
  StatusOr<Attribute> TakeOptionalAttribute(ByteCursor& cursor);
  StatusOr<Location> TakeLocation(ByteCursor& cursor);
  StatusOr<Type> TakeType(ByteCursor& cursor);
  StatusOr<Type> TypeAt(uint64_t index, const ByteCursor& where);
  StatusOr<std::vector<Attribute>> TakeAttributes(ByteCursor& cursor);
  StatusOr<std::vector<Type>> TakeTypes(ByteCursor& cursor);
  StatusOr<std::vector<int64_t>> TakeSignedList(ByteCursor& cursor) const;
  // A tensor's or memref's shape and element type.
  StatusOr<std::vector<int64_t>> TakeShape(ByteCursor& cursor) const;
  StatusOr<Type> TakeElementType(ByteCursor& cursor);
  // The bits of an integer or float of that width.
  StatusOr<uint64_t> TakeBits(ByteCursor& cursor, unsigned width) const;
  StatusOr<llvm::ArrayRef<char>> TakeBlob(ByteCursor& cursor) const;

  // The encoded properties of that number.
  StatusOr<ByteCursor> Properties(uint64_t index, const ByteCursor& where) const;
  // The key of the resource of that number.
  StatusOr<std::string_view> TakeResourceKey(ByteCursor& cursor) const;

  // An opaque attribute. A little bytecode can stand for much text: their sum is bounded.
  StatusOr<Attribute> MakeOpaque(std::string_view text, const ByteCursor& where);

  // An error of the code kNotUnderstood: "not understood: <what> (version ...)".
  Status NotUnderstood(const ByteCursor& where, std::string_view what) const;

 private:
  template <typename Handle>
  struct Entry {
    ByteCursor data;
    std::string_view dialect;
    bool is_encoded = true;  // By its dialect; else it is text.
    bool is_being_read = false;
    Handle value;
  };

  StatusOr<std::string_view> DialectName(ByteCursor& cursor) const;
  Status ReadOffsetGroup(ByteCursor& offsets, ByteCursor& data, size_t attributes, size_t types);
  Status ReadResourceGroup(ByteCursor& offsets, ByteCursor& data, std::string_view group,
                           bool is_external, std::vector<Resource>& resources);
  StatusOr<Attribute> ResolveAttribute(uint64_t index, const ByteCursor& where);
  template <typename Handle>
  Status CheckNesting(Handle handle, const ByteCursor& where) const;

  Context& context_;
  std::string_view version_;
  std::vector<std::string_view> strings_;
  std::vector<std::string_view> dialects_;
  std::vector<BytecodeOpName> op_names_;
  std::vector<Entry<Attribute>> attributes_;
  std::vector<Entry<Type>> types_;
  std::vector<ByteCursor> properties_;
  std::vector<std::string_view> resource_keys_;  // Of dialects, in the order of their numbers.
  uint64_t text_budget_;
  uint32_t depth_ = 0;
};

// One dialect's own encodings. Each reads what follows the entry's start up to its end.
StatusOr<Attribute> ReadBuiltinAttribute(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Type> ReadBuiltinType(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Attribute> ReadVhloAttribute(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Type> ReadVhloType(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Attribute> ReadChloAttribute(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Type> ReadQuantType(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Attribute> ReadSdyAttribute(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Attribute> ReadStablehloAttribute(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Type> ReadStablehloType(BytecodeTables& tables, ByteCursor& cursor);

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_BYTECODE_TABLES_H_
