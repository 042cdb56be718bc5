// Parts of attributes that several dialects encode in the same way.

#ifndef PLIMSOLL_STABLEHLO_BYTECODE_PARTS_H_
#define PLIMSOLL_STABLEHLO_BYTECODE_PARTS_H_

#include <string_view>

#include "ir/attribute.h"
#include "ir/status.h"
#include "stablehlo/byte_cursor.h"
#include "stablehlo/bytecode_tables.h"

namespace plimsoll {

// A list of names and values.
StatusOr<Attribute> ReadDictionary(BytecodeTables& tables, ByteCursor& cursor);
// An integer or float: its type and its bits.
StatusOr<Attribute> ReadTypedNumber(BytecodeTables& tables, ByteCursor& cursor);
// A constant: its type, and a blob of all elements or of one for all. Booleans may be packed eight
// to a byte.
StatusOr<Attribute> ReadDenseElements(BytecodeTables& tables, ByteCursor& cursor);
// The number of an enumerator.
StatusOr<Attribute> ReadEnum(BytecodeTables& tables, ByteCursor& cursor, std::string_view mnemonic);
// The fields of a row of ir/structs.def, one after the other.
StatusOr<Attribute> ReadStruct(BytecodeTables& tables, ByteCursor& cursor,
                               std::string_view mnemonic);

// The types that MLIR's builtin dialect and VHLO have both.
StatusOr<Type> ReadComplexType(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Type> ReadFunctionType(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Type> ReadTensorType(BytecodeTables& tables, ByteCursor& cursor, bool has_encoding);
StatusOr<Type> ReadTupleType(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Type> ReadUnrankedTensorType(BytecodeTables& tables, ByteCursor& cursor);
// A quantized type, with one scale or with one for each index along an axis.
StatusOr<Type> ReadQuantized(BytecodeTables& tables, ByteCursor& cursor, bool per_axis);

// Groups of devices described by the axes of a mesh. Nothing looks into them: they are held as
// text.
StatusOr<Attribute> ReadSubAxis(BytecodeTables& tables, ByteCursor& cursor);
StatusOr<Attribute> ReadMeshAxis(BytecodeTables& tables, Attribute name, ByteCursor& cursor);
StatusOr<Attribute> MakeAxisRef(BytecodeTables& tables, Attribute name, Attribute sub_axis,
                                const ByteCursor& where);
StatusOr<Attribute> MakeMesh(BytecodeTables& tables, Attribute axes, Attribute device_ids,
                             const ByteCursor& where);
StatusOr<Attribute> MakeReplicaGroupMeshAxes(BytecodeTables& tables, Attribute mesh, Attribute axes,
                                             const ByteCursor& where);

}  // namespace plimsoll

#endif  // PLIMSOLL_STABLEHLO_BYTECODE_PARTS_H_
