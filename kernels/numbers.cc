#include "kernels/numbers.h"

#include <algorithm>

#include "kernels/refuse.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {
namespace {

// Numbers of one value, each of which is an op.
constexpr size_t kMostNumbers = 1024;

bool IsBatch(int cover) { return cover >= 0; }

// Dimensions of two shapes that have as many elements together.
struct Group {
  std::vector<size_t> from;
  std::vector<size_t> to;
};

std::vector<Group> GroupsOf(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  std::vector<Group> groups;
  size_t i = 0;
  size_t j = 0;
  while (true) {
    while (i < from.size() && from[i] == 1) ++i;
    while (j < to.size() && to[j] == 1) ++j;
    if (i == from.size() || j == to.size()) return groups;
    Group group = {.from = {i}, .to = {j}};
    int64_t left = from[i++];
    int64_t right = to[j++];
    while (left != right) {
      if (left < right) {
        group.from.push_back(i);
        left *= from[i++];
      } else {
        group.to.push_back(j);
        right *= to[j++];
      }
    }
    groups.push_back(group);
  }
}

}  // namespace

int Numbers::At(llvm::ArrayRef<int64_t> position) const {
  size_t place = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (cover[i] != kEach) continue;
    place = place * static_cast<size_t>(shape[i]) + static_cast<size_t>(position[i]);
  }
  return ops[place];
}

StatusOr<Numbers> MakeNumbers(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> cover,
                              llvm::function_ref<StatusOr<int>(const Position&)> make) {
  Numbers numbers = {.shape = shape.vec(), .cover = cover.vec(), .ops = {}};
  size_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return Refuse("a value has no elements");
    if (shape[i] == 1) numbers.cover[i] = kSame;
    if (IsBatch(numbers.cover[i]) &&
        llvm::is_contained(llvm::ArrayRef(numbers.cover).take_front(i), numbers.cover[i])) {
      return Refuse("elements of the batch meet others");
    }
    if (numbers.cover[i] != kEach) continue;
    if (static_cast<size_t>(shape[i]) > kMostNumbers / count) {
      return Refuse("a value has too many numbers for each element of the batch");
    }
    count *= static_cast<size_t>(shape[i]);
  }
  Position position(shape.size(), 0);
  for (size_t i = 0; i < count; ++i) {
    size_t rest = i;
    for (size_t d = shape.size(); d-- > 0;) {
      if (numbers.cover[d] != kEach) continue;
      position[d] = static_cast<int64_t>(rest % static_cast<size_t>(shape[d]));
      rest /= static_cast<size_t>(shape[d]);
    }
    ASSIGN_OR_RETURN(const int op, make(position));
    numbers.ops.push_back(op);
  }
  return numbers;
}

StatusOr<std::vector<int>> MergeCovers(llvm::ArrayRef<int> a, llvm::ArrayRef<int> b) {
  std::vector<int> merged = a.vec();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == kSame) merged[i] = b[i];
    if (a[i] != kSame && b[i] != kSame && a[i] != b[i]) {
      return Refuse("elements of the batch meet others");
    }
  }
  return merged;
}

StatusOr<Numbers> WithCover(const Numbers& numbers, llvm::ArrayRef<int> cover) {
  ASSIGN_OR_RETURN(const std::vector<int> merged, MergeCovers(numbers.cover, cover));
  for (size_t i = 0; i < merged.size(); ++i) {
    if (merged[i] != cover[i]) return Refuse("a value is not the same all over the batch");
  }
  return MakeNumbers(numbers.shape, cover,
                     [&](const Position& position) { return numbers.At(position); });
}

StatusOr<Numbers> Reshaped(const Numbers& numbers, llvm::ArrayRef<int64_t> shape) {
  if (llvm::is_contained(numbers.shape, 0) || llvm::is_contained(shape, 0)) {
    return Refuse("a value has no elements");
  }
  std::vector<int> cover(shape.size(), kSame);
  const std::vector<Group> groups = GroupsOf(numbers.shape, shape);
  for (const Group& group : groups) {
    if (group.from.size() == 1 && group.to.size() == 1) {
      cover[group.to[0]] = numbers.cover[group.from[0]];
      continue;
    }
    const auto covers = [&](auto is_right) {
      return llvm::any_of(group.from, [&](size_t i) { return is_right(numbers.cover[i]); });
    };
    if (covers(IsBatch)) return Refuse("the batch is reshaped");
    if (!covers([](int one) { return one == kEach; })) continue;
    for (const size_t to : group.to) cover[to] = kEach;
  }
  return MakeNumbers(shape, cover, [&](const Position& position) {
    Position from(numbers.shape.size(), 0);
    for (const Group& group : groups) {
      int64_t place = 0;
      for (const size_t to : group.to) place = place * shape[to] + position[to];
      for (const size_t i : llvm::reverse(group.from)) {
        from[i] = place % numbers.shape[i];
        place /= numbers.shape[i];
      }
    }
    return numbers.At(from);
  });
}

StatusOr<Numbers> Transposed(const Numbers& numbers, llvm::ArrayRef<int64_t> permutation) {
  std::vector<int64_t> shape;
  std::vector<int> cover;
  for (const int64_t from : permutation) {
    shape.push_back(numbers.shape[static_cast<size_t>(from)]);
    cover.push_back(numbers.cover[static_cast<size_t>(from)]);
  }
  return MakeNumbers(shape, cover, [&](const Position& position) {
    Position from(shape.size(), 0);
    for (size_t i = 0; i < shape.size(); ++i) {
      from[static_cast<size_t>(permutation[i])] = position[i];
    }
    return numbers.At(from);
  });
}

StatusOr<Numbers> Broadcast(const Numbers& numbers, llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<int64_t> dimensions) {
  std::vector<int> cover(shape.size(), kSame);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    cover[static_cast<size_t>(dimensions[i])] = numbers.cover[i];
  }
  return MakeNumbers(shape, cover, [&](const Position& position) {
    Position from;
    for (const int64_t dimension : dimensions) {
      from.push_back(position[static_cast<size_t>(dimension)]);
    }
    return numbers.At(from);
  });
}

StatusOr<Numbers> Sliced(const Numbers& numbers, llvm::ArrayRef<int64_t> starts,
                         llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> shape) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (IsBatch(numbers.cover[i]) && shape[i] != numbers.shape[i]) {
      return Refuse("a part of the batch is read");
    }
  }
  // A dimension of which one position is left needs one number.
  std::vector<int> cover = numbers.cover;
  return MakeNumbers(shape, cover, [&](const Position& position) {
    Position from = position;
    for (size_t i = 0; i < from.size(); ++i) from[i] = starts[i] + position[i] * strides[i];
    return numbers.At(from);
  });
}

StatusOr<Numbers> Updated(const Numbers& numbers, const Numbers& update,
                          llvm::ArrayRef<int64_t> starts) {
  std::vector<int> cover = numbers.cover;
  for (size_t i = 0; i < cover.size(); ++i) {
    if (update.shape[i] == numbers.shape[i]) {
      ASSIGN_OR_RETURN(const std::vector<int> merged, MergeCovers(cover[i], update.cover[i]));
      cover[i] = merged[0];
      continue;
    }
    if (IsBatch(cover[i]) || IsBatch(update.cover[i])) {
      return Refuse("a part of the batch is written");
    }
    cover[i] = kEach;
  }
  return MakeNumbers(numbers.shape, cover, [&](const Position& position) {
    Position inside(position.size(), 0);
    for (size_t i = 0; i < position.size(); ++i) {
      inside[i] = position[i] - (cover[i] == kEach ? starts[i] : 0);
      if (inside[i] < 0 || inside[i] >= update.shape[i]) return numbers.At(position);
    }
    return update.At(inside);
  });
}

StatusOr<Numbers> Reversed(const Numbers& numbers, llvm::ArrayRef<int64_t> dimensions) {
  for (const int64_t dimension : dimensions) {
    if (IsBatch(numbers.cover[static_cast<size_t>(dimension)])) {
      return Refuse("the batch is reversed");
    }
  }
  return MakeNumbers(numbers.shape, numbers.cover, [&](const Position& position) {
    Position from = position;
    for (const int64_t dimension : dimensions) {
      const auto i = static_cast<size_t>(dimension);
      from[i] = numbers.shape[i] - 1 - from[i];
    }
    return numbers.At(from);
  });
}

StatusOr<Numbers> Concatenated(llvm::ArrayRef<Numbers> pieces, size_t dimension) {
  std::vector<int64_t> shape = pieces[0].shape;
  std::vector<int> cover(shape.size(), kSame);
  shape[dimension] = 0;
  for (const Numbers& piece : pieces) {
    std::vector<int> own = piece.cover;
    if (IsBatch(own[dimension])) return Refuse("the batch is put together");
    own[dimension] = kEach;
    ASSIGN_OR_RETURN(cover, MergeCovers(cover, own));
    shape[dimension] += piece.shape[dimension];
  }
  return MakeNumbers(shape, cover, [&](const Position& position) {
    Position from = position;
    const Numbers* piece = pieces.begin();
    for (; from[dimension] >= piece->shape[dimension]; ++piece) {
      from[dimension] -= piece->shape[dimension];
    }
    return piece->At(from);
  });
}

}  // namespace plimsoll
