// How single kinds of ops are made for one chunk; chunk_ops.cc says which op needs more than other
// types.

#ifndef PLIMSOLL_SPLIT_CHUNK_OPS_INTERNAL_H_
#define PLIMSOLL_SPLIT_CHUNK_OPS_INTERNAL_H_

#include <utility>
#include <vector>

#include "ir/builder.h"
#include "llvm/ADT/ArrayRef.h"
#include "split/chunk_ops.h"

namespace plimsoll {

// What all of them are given.
struct ChunkOp {
  Builder& builder;
  const Op& op;
  const Factor& factor;
  llvm::ArrayRef<Value*> operands;
  const Chunk& chunk;

  // The dimension along which a result is cut; kPartial or kSame if it is not.
  int result_dimension(size_t index = 0) const { return factor.results[index]; }
  // The type of a result of this chunk.
  Type ResultType(size_t index = 0) const;
  // The op as it is, with these operands, the results' types of this chunk, and these properties in
  // the place of its own.
  StatusOr<Builder::Values> Copy(llvm::ArrayRef<Value*> operands,
                                 llvm::ArrayRef<NamedAttribute> changed = {}) const;
};

// The numbers of an attribute with one of them replaced.
Attribute WithNumber(Context& context, Attribute numbers, size_t index, int64_t number);

bool IsUnsigned(Type integer);
// The greatest number of a type; of those of 64 bits the greatest signed one.
int64_t GreatestOf(Type integer);
// Scalar or tensor; unsigned numbers have no least.
Value* ClampTo(Builder& builder, Value* index, int64_t least, int64_t most);

// The op that combines two parts, for combinations by one op.
Opcode OpcodeOf(Combination combination);
// What leaves the other part as it is, for combinations of parts that start from nothing.
Value* IdentityOf(Builder& builder, Type type, Combination combination);

// chunk_loops.cc: operands that are parts of a sum must have been told apart (FirstChunkOnly).
StatusOr<Builder::Values> EmitLoopChunk(const ChunkOp& loop);
// chunk_indexing.cc
StatusOr<Builder::Values> EmitGatherChunk(const ChunkOp& op);
StatusOr<Builder::Values> EmitScatterChunk(const ChunkOp& op);
// chunk_windows.cc
StatusOr<Builder::Values> EmitConvolutionChunk(const ChunkOp& op);
// chunk_sorting.cc
StatusOr<Builder::Values> EmitTopKChunk(const ChunkOp& op);
StatusOr<Builder::Values> CombineTopK(Builder& builder, const Op& op, llvm::ArrayRef<Value*> so_far,
                                      llvm::ArrayRef<Value*> parts);
Value* InitialTopK(Builder& builder, const Op& op, size_t result);
// chunk_linalg.cc
StatusOr<Builder::Values> EmitCustomCallChunk(const ChunkOp& op);

}  // namespace plimsoll

#endif  // PLIMSOLL_SPLIT_CHUNK_OPS_INTERNAL_H_
