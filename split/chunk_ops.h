// An op on one chunk of an axis.

#ifndef PLIMSOLL_SPLIT_CHUNK_OPS_H_
#define PLIMSOLL_SPLIT_CHUNK_OPS_H_

#include <cstdint>

#include "analysis/axis_rules.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/status.h"
#include "llvm/ADT/ArrayRef.h"

namespace plimsoll {

// One step of a loop over an axis: the blocks from `first` on, `size` of them out of `blocks`.
struct Chunk {
  int64_t blocks = 0;
  int64_t size = 0;
  // An integer scalar that is known when the program runs, wide enough for every index.
  Value* first = nullptr;
};

// How many neighbours of that dimension one block holds.
int64_t UnitOf(Type type, int dimension, int64_t blocks);

// The type of a chunk of a value of that type.
Type ChunkType(Context& context, Type type, int dimension, const Chunk& chunk);

// The index along a dimension at which the chunk begins.
Value* StartAlong(Builder& builder, Type type, int dimension, const Chunk& chunk);

// The chunk of a whole value.
Value* SliceChunk(Builder& builder, Value* whole, int dimension, const Chunk& chunk);

// Writes a chunk into the whole value, which it gives back.
Value* UpdateChunk(Builder& builder, Value* whole, Value* part, int dimension, const Chunk& chunk);

// Makes the op's results for one chunk. `operands` are chunks where the factor says so, whole
// values elsewhere. Partial results are those of this chunk alone, with sums in an element type
// that does not lose digits when many are added up (see AccumulatorType).
StatusOr<Builder::Values> EmitChunk(Builder& builder, const Op& op, const Factor& factor,
                                    llvm::ArrayRef<Value*> operands, const Chunk& chunk);

// The value in the first chunk, zeros in all others: what is added up once.
Value* FirstChunkOnly(Builder& builder, Value* value, const Chunk& chunk);

// Zeros, made from one.
Value* ZerosLike(Builder& builder, Type type);

// The type in which parts of a result are added up: f32 for bf16 and f16.
Type AccumulatorType(Context& context, Type type, Combination combination);

// What the combination starts from: as if no chunk had been seen.
Value* InitialAccumulator(Builder& builder, const Op& op, const Factor& factor, size_t result,
                          llvm::ArrayRef<Value*> operands);

// The results so far and those of one more chunk put together.
StatusOr<Builder::Values> Combine(Builder& builder, const Op& op, const Factor& factor,
                                  llvm::ArrayRef<Value*> so_far, llvm::ArrayRef<Value*> parts);

}  // namespace plimsoll

#endif  // PLIMSOLL_SPLIT_CHUNK_OPS_H_
