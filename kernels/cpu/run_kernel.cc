#include "kernels/cpu/run_kernel.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "kernels/cpu/combine_parts.h"
#include "kernels/cpu/insert_best.h"
#include "kernels/cpu/kernel_array.h"
#include "kernels/cpu/kernel_scratch.h"
#include "kernels/cpu/long_sums.h"

namespace plimsoll {
namespace {

// A piece of rows has enough of them for packing the columns to be worth it, but there are enough
// pieces for all threads.
constexpr int64_t kMostRows = 1024;
constexpr int64_t kLeastRows = 32;
constexpr int64_t kPiecesPerThread = 2;
constexpr int64_t kRowsOfPacked = 512;
// With parts: pieces are the same for every number of threads.
constexpr int64_t kPiecesWithParts = 16;
// Rows of a part that are summed before they are added to it, so that long sums keep their digits.
constexpr int64_t kRowsSummed = 256;

// With segments: the sums of so many columns stay in a core's second cache, unless that would be
// few columns.
constexpr int64_t kSegmentBytes = 512 << 10;
constexpr int64_t kLeastColumns = 128;

// Parts of results that rows are reduced in, and how rows or columns are shared out.
struct Layout {
  int64_t batch = 1;
  int64_t pieces = 1;  // Of the rows, or with segments of the columns.
  int64_t rows_of_piece = 1;
  int64_t columns_of_piece = 1;
  int64_t worker_bytes = 0;
  // For each result: elements of one part, or 0 if pieces write into the result itself.
  std::vector<int64_t> part_elements;
  std::vector<int64_t> part_offsets;
  // Where a worker sums some rows of a part, if it is not all of them at once.
  bool sums_apart = false;
  std::vector<int64_t> sum_offsets;
  // Of parts that so many such sums are added to that rounding counts; else -1.
  std::vector<int64_t> part_compensation_offsets;
  // Of sums over columns, for the rows that a worker computes at once.
  std::vector<int64_t> compensation_offsets;
  int64_t part_bytes = 0;

  int64_t rows_at_once() const { return sums_apart ? kRowsSummed : rows_of_piece; }
};

// True if each piece of the rows has a part of the result.
bool HasParts(const TileResult& result) {
  return (result.reduced & kRowBit) != 0 && result.segment < 0;
}

// Of what rounding takes from sums over columns.
int64_t CompensationBytes(const TileProgram& program, const TileResult& result, int64_t rows) {
  if (!IsSumOverColumns(result)) return 0;
  const int64_t sums = (result.reduced & kRowBit) != 0 ? 1 : rows;
  return sums * CompensationBytesOfRow(program, result);
}

// All rows of some columns. Each sum is in one piece, so that pieces may be of any size.
void ShareOutColumns(const TileProgram& program, const KernelShape& shape,
                     llvm::ArrayRef<int64_t> lengths, int64_t tasks, Layout& layout) {
  int64_t bytes_of_column = 1;
  for (const TileResult& result : program.results) {
    if (result.segment < 0) continue;
    const auto axis = static_cast<size_t>(SegmentAxis(program, result));
    bytes_of_column +=
        lengths[axis] * program.ShortCount(AxesOf(result.array)) * BytesOf(result.array.type);
  }
  const int64_t columns = lengths[kColumnAxis];
  // Short runs of what is read are slow.
  tasks =
      std::clamp(columns / kLeastColumns, (tasks + kPiecesPerThread - 1) / kPiecesPerThread, tasks);
  const int64_t most = std::max(kLeastColumns, kSegmentBytes / bytes_of_column);
  const int64_t pieces = RoundUp((columns + most - 1) / most, tasks);
  layout.rows_of_piece = std::max<int64_t>(1, lengths[kRowAxis]);
  layout.columns_of_piece = RoundUp((columns + pieces - 1) / std::max<int64_t>(1, pieces),
                                    int64_t{shape.lanes} * shape.vectors);
  layout.columns_of_piece = std::max<int64_t>(1, layout.columns_of_piece);
  layout.pieces =
      std::max<int64_t>(1, (columns + layout.columns_of_piece - 1) / layout.columns_of_piece);
}

Layout MakeLayout(const TileProgram& program, const KernelShape& shape,
                  llvm::ArrayRef<int64_t> lengths, int64_t threads) {
  Layout layout;
  for (size_t i = 0; i < program.axes.size(); ++i) {
    if (program.axes[i].kind == TileAxisKind::kBatch) layout.batch *= lengths[i];
  }
  const int64_t rows = lengths[kRowAxis];
  const bool has_parts = llvm::any_of(program.results, HasParts);
  int64_t tasks = kPiecesPerThread * threads;
  // What is packed along a long axis is much: with fewer rows, packing it takes as long as they do.
  if (program.AxesOfKind(TileAxisKind::kLong) != 0) {
    tasks = std::clamp(layout.batch * rows / kRowsOfPacked, threads, tasks);
  }
  const int64_t pieces = has_parts
                             ? kPiecesWithParts
                             : (tasks + layout.batch - 1) / std::max<int64_t>(1, layout.batch);
  if (HasSegments(program)) {
    ShareOutColumns(program, shape, lengths, std::max<int64_t>(1, pieces), layout);
  } else {
    const int64_t wanted = (std::max<int64_t>(1, rows) + pieces - 1) / std::max<int64_t>(1, pieces);
    // Each piece needs parts of its own.
    const int64_t most = has_parts ? INT64_MAX : kMostRows;
    layout.rows_of_piece = RoundUp(std::clamp(wanted, kLeastRows, most), shape.rows);
    layout.columns_of_piece = std::max<int64_t>(1, lengths[kColumnAxis]);
    layout.pieces = std::max<int64_t>(1, (rows + layout.rows_of_piece - 1) / layout.rows_of_piece);
  }
  layout.worker_bytes = RoundUp(PackedBytes(program, shape, lengths), kScratchAlignment);
  layout.sums_apart = has_parts && std::min(rows, layout.rows_of_piece) > kRowsSummed;
  // As much for every number of threads.
  const int64_t most_rows =
      has_parts || HasSegments(program) ? layout.rows_at_once() : RoundUp(kMostRows, shape.rows);
  for (const TileResult& result : program.results) {
    int64_t elements = 0;
    if (HasParts(result)) {
      elements = program.ShortCount(AxesOf(result.array));
      if ((result.reduced & kColumnBit) == 0) {
        elements *= RoundUp(lengths[kColumnAxis], shape.lanes);
      }
    }
    layout.part_elements.push_back(elements);
    layout.part_offsets.push_back(layout.part_bytes);
    layout.part_bytes += RoundUp(
        elements * BytesOf(result.array.type) * layout.pieces * layout.batch, kScratchAlignment);
    layout.sum_offsets.push_back(layout.worker_bytes);
    if (layout.sums_apart) {
      layout.worker_bytes += RoundUp(elements * BytesOf(result.array.type), kScratchAlignment);
    }
    const bool is_long = layout.sums_apart && IsSum(result) &&
                         std::min(rows, layout.rows_of_piece) > kNumbersSummed * kRowsSummed;
    layout.part_compensation_offsets.push_back(is_long ? layout.worker_bytes : -1);
    if (is_long) {
      layout.worker_bytes += RoundUp(elements * BytesOf(result.array.type), kScratchAlignment);
    }
    layout.compensation_offsets.push_back(layout.worker_bytes);
    layout.worker_bytes +=
        RoundUp(CompensationBytes(program, result, std::min(rows, most_rows)), kScratchAlignment);
  }
  return layout;
}

// The strides of a part: columns lie next to each other.
std::vector<int64_t> PartStrides(const TileProgram& program, const TileResult& result,
                                 const Layout& layout, size_t number) {
  std::vector<int64_t> strides(program.axes.size(), 0);
  int64_t stride = layout.part_elements[number] / program.ShortCount(AxesOf(result.array));
  if ((result.reduced & kColumnBit) == 0) strides[kColumnAxis] = 1;
  for (size_t i = result.array.axes.size(); i-- > 0;) {
    const int axis = result.array.axes[i];
    if (axis == kNoAxis) continue;
    const TileAxis& info = program.axes[static_cast<size_t>(axis)];
    if (info.kind != TileAxisKind::kShort) continue;
    strides[static_cast<size_t>(axis)] = stride;
    stride *= info.length;
  }
  return strides;
}

// A step with which all of so many are visited, far from the one before.
int64_t ScatteredLeap(int64_t count) {
  int64_t leap = std::max<int64_t>(1, count * 5 / 8);
  while (std::gcd(leap, count) > 1) ++leap;
  return leap;
}

// How many of the threads have something to do.
int64_t WorkersOf(const Layout& layout, int64_t threads) {
  return std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, layout.batch * layout.pieces));
}

ScratchNeed NeedOf(const Layout& layout) {
  return {.worker_bytes = layout.worker_bytes, .common_bytes = layout.part_bytes};
}

class Run {
 public:
  Run(const CompiledKernel& kernel, llvm::ArrayRef<KernelArray> operands,
      llvm::ArrayRef<KernelArray> results, std::vector<int64_t> lengths, Layout layout,
      const KernelScratch& scratch)
      : program_(kernel.program),
        kernel_(kernel),
        operands_(operands),
        results_(results),
        lengths_(std::move(lengths)),
        layout_(std::move(layout)),
        scratch_(scratch) {
    for (size_t i = 0; i < operands.size(); ++i) {
      AddStrides(AxisStrides(program_, program_.operands[i], operands[i].shape));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const TileResult& result = program_.results[i];
      AddStrides(HasParts(i) ? PartStrides(program_, result, layout_, i)
                             : AxisStrides(program_, result.array, results[i].shape));
    }
  }

  int64_t task_count() const { return layout_.batch * layout_.pieces; }

  void RunTask(int64_t task, int64_t worker) const {
    const int64_t element = task / layout_.pieces;
    const int64_t piece = task % layout_.pieces;
    const bool has_segments = HasSegments(program_);
    const int64_t row_begin = has_segments ? 0 : piece * layout_.rows_of_piece;
    const int64_t row_end = std::min(row_begin + layout_.rows_of_piece, lengths_[kRowAxis]);
    const int64_t column_begin = has_segments ? piece * layout_.columns_of_piece : 0;
    std::vector<const void*> operands;
    for (size_t i = 0; i < operands_.size(); ++i) {
      operands.push_back(static_cast<const char*>(operands_[i].data) +
                         BatchOffset(i, element) * BytesOf(program_.operands[i].type));
    }
    char* scratch = scratch_.workers + worker * layout_.worker_bytes;
    std::vector<void*> results;
    std::vector<char*> parts(results_.size(), nullptr);
    for (size_t i = 0; i < results_.size(); ++i) {
      const ScalarType type = program_.results[i].array.type;
      if (HasParts(i)) {
        parts[i] = PartOf(i, element) + piece * layout_.part_elements[i] * BytesOf(type);
        FillPart(i, parts[i]);
        const int64_t beside = layout_.part_compensation_offsets[i];
        if (beside >= 0) FillPart(i, scratch + beside);
        results.push_back(layout_.sums_apart ? scratch + layout_.sum_offsets[i] : parts[i]);
      } else {
        results.push_back(static_cast<char*>(results_[i].data) +
                          BatchOffset(operands_.size() + i, element) * BytesOf(type));
      }
    }
    const int64_t step = layout_.rows_at_once();
    std::vector<void*> compensations(results_.size(), nullptr);
    for (int64_t row = row_begin; row < row_end; row += step) {
      for (size_t i = 0; i < results.size() && layout_.sums_apart; ++i) {
        if (HasParts(i)) FillPart(i, results[i]);
      }
      const int64_t next = std::min(row + step, row_end);
      for (size_t i = 0; i < results.size(); ++i) {
        compensations[i] = NoCompensations(i, scratch, row, next);
      }
      RunRows(
          {.operands = operands.data(),
           .results = results.data(),
           .compensations = compensations.data(),
           .strides = strides_.data(),
           .lengths = lengths_.data(),
           .row_begin = row,
           .row_end = next,
           .column_begin = column_begin,
           .column_end = std::min(column_begin + layout_.columns_of_piece, lengths_[kColumnAxis]),
           .scratch = scratch});
      for (size_t i = 0; i < results.size() && layout_.sums_apart; ++i) {
        if (!HasParts(i)) continue;
        AddToPart(i, parts[i], scratch, results[i]);
      }
    }
  }

  // What is added to must be there before the first task.
  void FillResults() const {
    for (size_t i = 0; i < results_.size(); ++i) {
      const TileResult& result = program_.results[i];
      const bool is_added_to = result.reducer != Opcode::kUnknown || result.follows >= 0;
      if (!is_added_to || HasParts(i)) continue;
      if (result.follows >= 0 && IsOfTop(program_, result)) {
        auto* columns = static_cast<int32_t*>(results_[i].data);
        std::fill_n(columns, ElementCount(results_[i].shape), kNoColumn);
        continue;
      }
      if (result.follows >= 0) {
        std::memset(
            results_[i].data, 0,
            static_cast<size_t>(ElementCount(results_[i].shape) * BytesOf(result.array.type)));
        continue;
      }
      FillNeutral(result.reducer, result.array.type, results_[i].data,
                  ElementCount(results_[i].shape));
    }
  }

  // Puts the parts of one element of the batch together and writes them to where they belong.
  void Finish(int64_t element) const {
    for (size_t i = 0; i < results_.size(); ++i) {
      if (!HasParts(i)) continue;
      const TileResult& result = program_.results[i];
      const ScalarType type = result.array.type;
      char* part = PartOf(i, element);
      CombineParts(result.reducer, type, part, layout_.part_elements[i], layout_.pieces);
      CopyPart(i, element, part);
    }
  }

 private:
  bool HasParts(size_t result) const { return plimsoll::HasParts(program_.results[result]); }

  void FillPart(size_t number, void* part) const {
    const TileResult& result = program_.results[number];
    FillNeutral(result.reducer, result.array.type, part, layout_.part_elements[number]);
  }

  // Those of some rows before anything was summed, as seen from the first row of all; null if the
  // result has none.
  void* NoCompensations(size_t number, char* scratch, int64_t row_begin, int64_t row_end) const {
    const TileResult& result = program_.results[number];
    const int64_t bytes = CompensationBytes(program_, result, row_end - row_begin);
    if (bytes == 0) return nullptr;
    char* place = scratch + layout_.compensation_offsets[number];
    std::memset(place, 0, static_cast<size_t>(bytes));
    if ((result.reduced & kRowBit) != 0) return place;
    return place - CompensationBytes(program_, result, row_begin);
  }

  // What a worker has summed of some rows.
  void AddToPart(size_t number, char* part, char* scratch, const void* sums) const {
    const TileResult& result = program_.results[number];
    const int64_t count = layout_.part_elements[number];
    const int64_t beside = layout_.part_compensation_offsets[number];
    if (beside < 0) {
      CombineInto(result.reducer, result.array.type, part, sums, count);
    } else {
      AddCompensated(result.array.type, part, 1, scratch + beside, 1, sums, count);
    }
  }

  // The columns of some rows, by blocks.
  void RunRows(KernelCall call) const {
    const int64_t begin = call.column_begin;
    const int64_t end = call.column_end;
    const int64_t blocks = RoundUp(end - begin, kernel_.shape.block) / kernel_.shape.block;
    const int64_t leap = IsScattered(program_) ? ScatteredLeap(blocks) : 1;
    for (int64_t i = 0; i < blocks; ++i) {
      call.column_begin = begin + i * leap % blocks * kernel_.shape.block;
      call.column_end = std::min(call.column_begin + kernel_.shape.block, end);
      kernel_.pack(&call);
      kernel_.run(&call);
    }
  }

  void AddStrides(const std::vector<int64_t>& strides) {
    strides_.insert(strides_.end(), strides.begin(), strides.end());
  }

  char* PartOf(size_t result, int64_t element) const {
    return scratch_.common + layout_.part_offsets[result] +
           element * layout_.pieces * layout_.part_elements[result] *
               BytesOf(program_.results[result].array.type);
  }

  // How far an element of the batch is from the first, in an operand or a result.
  int64_t BatchOffset(size_t array, int64_t element) const {
    const size_t axes = program_.axes.size();
    const bool is_operand = array < operands_.size();
    std::vector<int64_t> own;
    const int64_t* strides = &strides_[array * axes];
    if (!is_operand && HasParts(array - operands_.size())) {
      const size_t result = array - operands_.size();
      own = AxisStrides(program_, program_.results[result].array, results_[result].shape);
      strides = own.data();
    }
    int64_t offset = 0;
    for (size_t axis = axes; axis-- > 0;) {
      if (program_.axes[axis].kind != TileAxisKind::kBatch) continue;
      offset += element % lengths_[axis] * strides[axis];
      element /= lengths_[axis];
    }
    return offset;
  }

  void CopyPart(size_t number, int64_t element, const char* part) const {
    const TileResult& result = program_.results[number];
    const auto bytes = static_cast<size_t>(BytesOf(result.array.type));
    const size_t axes = program_.axes.size();
    const std::vector<int64_t> to = AxisStrides(program_, result.array, results_[number].shape);
    const int64_t* from = &strides_[(operands_.size() + number) * axes];
    char* base = static_cast<char*>(results_[number].data) +
                 BatchOffset(operands_.size() + number, element) * static_cast<int64_t>(bytes);
    // Walks over the positions of all axes that a part has.
    std::vector<size_t> walked;
    int64_t count = 1;
    for (const int axis : result.array.axes) {
      if (axis == kNoAxis) continue;
      if (program_.axes[static_cast<size_t>(axis)].kind == TileAxisKind::kBatch) continue;
      walked.push_back(static_cast<size_t>(axis));
      count *= LengthOf(static_cast<size_t>(axis));
    }
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i;
      int64_t from_offset = 0;
      int64_t to_offset = 0;
      for (size_t j = walked.size(); j-- > 0;) {
        const int64_t position = rest % LengthOf(walked[j]);
        rest /= LengthOf(walked[j]);
        from_offset += position * from[walked[j]];
        to_offset += position * to[walked[j]];
      }
      std::memcpy(base + to_offset * static_cast<int64_t>(bytes),
                  part + from_offset * static_cast<int64_t>(bytes), bytes);
    }
  }

  int64_t LengthOf(size_t axis) const {
    return program_.axes[axis].kind == TileAxisKind::kShort ? program_.axes[axis].length
                                                            : lengths_[axis];
  }

  const TileProgram& program_;
  const CompiledKernel& kernel_;
  llvm::ArrayRef<KernelArray> operands_;
  llvm::ArrayRef<KernelArray> results_;
  std::vector<int64_t> lengths_;
  Layout layout_;
  KernelScratch scratch_;
  std::vector<int64_t> strides_;
};

}  // namespace

int64_t ScratchBytes(const TileProgram& program, const KernelShape& shape,
                     llvm::ArrayRef<int64_t> lengths, int64_t threads) {
  const Layout layout = MakeLayout(program, shape, lengths, threads);
  return NeedOf(layout).BytesFor(WorkersOf(layout, threads));
}

Status RunKernel(const CompiledKernel& kernel, llvm::ArrayRef<KernelArray> operands,
                 llvm::ArrayRef<KernelArray> results, llvm::MutableArrayRef<char> scratch,
                 int64_t threads, RunTasks run_tasks) {
  ASSIGN_OR_RETURN(std::vector<int64_t> lengths,
                   AxisLengths(kernel.program, ShapesOf(operands), ShapesOf(results)));
  Layout layout = MakeLayout(kernel.program, kernel.shape, lengths, threads);
  const int64_t batch = layout.batch;
  ASSIGN_OR_RETURN(const KernelScratch shared,
                   ShareScratch(scratch, NeedOf(layout), WorkersOf(layout, threads)));
  const Run run(kernel, operands, results, std::move(lengths), std::move(layout), shared);
  run.FillResults();
  run_tasks(run.task_count(), shared.worker_count,
            [&](int64_t task, int64_t worker) { run.RunTask(task, worker); });
  for (int64_t element = 0; element < batch; ++element) run.Finish(element);
  return OkStatus();
}

}  // namespace plimsoll
