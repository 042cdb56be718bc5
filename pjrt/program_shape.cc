#include "pjrt/program_shape.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pjrt/layout.h"

namespace plimsoll {
namespace {

// Field numbers of xla/xla.proto, xla/service/hlo.proto and xla/xla_data.proto.
enum HloModuleWithConfigField : uint64_t { kHloModule = 1 };
enum HloModuleField : uint64_t { kHostProgramShape = 4 };
enum ProgramShapeField : uint64_t { kParameters = 1 };
enum ShapeField : uint64_t {
  kElementType = 2,
  kDimensions = 3,
  kLayout = 5,
  kIsDynamicDimension = 6,
};
enum LayoutField : uint64_t { kMinorToMajor = 1 };

struct Field {
  uint64_t number = 0;
  uint64_t integer = 0;    // Of a varint.
  std::string_view bytes;  // Of a message, text or packed list.
  bool is_bytes = false;
};

// Reads the fields of one message in protocol buffers' wire format, and stops at what is broken.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : bytes_(bytes) {}

  // The next field, or nothing at the end or at broken bytes.
  std::optional<Field> Next() {
    if (bytes_.empty() || is_broken_) return std::nullopt;
    const uint64_t tag = ReadVarint();
    Field field;
    field.number = tag >> 3;
    switch (tag & 7) {
      case 0:
        field.integer = ReadVarint();
        break;
      case 1:
        Take(8);
        break;
      case 2:
        field.bytes = Take(ReadVarint());
        field.is_bytes = true;
        break;
      case 5:
        Take(4);
        break;
      default:
        is_broken_ = true;
    }
    if (is_broken_) return std::nullopt;
    return field;
  }

  // The next number of a packed list.
  std::optional<uint64_t> NextInteger() {
    if (bytes_.empty() || is_broken_) return std::nullopt;
    const uint64_t value = ReadVarint();
    if (is_broken_) return std::nullopt;
    return value;
  }

  bool is_broken() const { return is_broken_; }

 private:
  uint64_t ReadVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    is_broken_ = true;
    return 0;
  }

  std::string_view Take(uint64_t size) {
    if (size > bytes_.size()) {
      is_broken_ = true;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
  bool is_broken_ = false;
};

// The first message in field `number`; nothing if there is none.
std::optional<std::string_view> FindMessage(std::string_view bytes, uint64_t number) {
  MessageReader reader(bytes);
  while (const std::optional<Field> field = reader.Next()) {
    if (field->number == number && field->is_bytes) return field->bytes;
  }
  return std::nullopt;
}

// Appends the integers of a repeated field, which may be packed or not; false if the bytes are
// broken.
bool AppendIntegers(const Field& field, std::vector<int64_t>& integers) {
  if (!field.is_bytes) {
    integers.push_back(static_cast<int64_t>(field.integer));
    return true;
  }
  MessageReader reader(field.bytes);
  while (const std::optional<uint64_t> value = reader.NextInteger()) {
    integers.push_back(static_cast<int64_t>(*value));
  }
  return !reader.is_broken();
}

// The order of dimensions in a LayoutProto; nothing if the bytes are broken.
std::optional<std::vector<int64_t>> ReadMinorToMajor(std::string_view bytes) {
  std::vector<int64_t> minor_to_major;
  MessageReader reader(bytes);
  while (const std::optional<Field> field = reader.Next()) {
    if (field->number == kMinorToMajor && !AppendIntegers(*field, minor_to_major)) {
      return std::nullopt;
    }
  }
  if (reader.is_broken()) return std::nullopt;
  return minor_to_major;
}

std::optional<ProgramArgument> ReadShape(std::string_view bytes) {
  std::optional<ElementType> element_type;
  std::vector<int64_t> dimensions;
  std::vector<int64_t> is_dynamic;
  std::optional<std::vector<int64_t>> minor_to_major = std::vector<int64_t>{};
  MessageReader reader(bytes);
  while (const std::optional<Field> field = reader.Next()) {
    bool is_read = true;
    switch (field->number) {
      case kElementType:
        element_type = ElementTypeFromHloNumber(static_cast<int64_t>(field->integer));
        break;
      case kDimensions:
        is_read = AppendIntegers(*field, dimensions);
        break;
      case kLayout:
        minor_to_major = ReadMinorToMajor(field->bytes);
        is_read = minor_to_major.has_value();
        break;
      case kIsDynamicDimension:
        is_read = AppendIntegers(*field, is_dynamic);
        break;
      default:
        break;
    }
    if (!is_read) return std::nullopt;
  }
  const bool has_bad_layout =
      std::any_of(minor_to_major->begin(), minor_to_major->end(), [&](int64_t dimension) {
        return dimension < 0 || dimension >= static_cast<int64_t>(dimensions.size());
      });
  if (reader.is_broken() || !element_type.has_value() || has_bad_layout ||
      std::count(is_dynamic.begin(), is_dynamic.end(), 0) <
          static_cast<int64_t>(is_dynamic.size())) {
    return std::nullopt;
  }
  const bool is_row_major = IsRowMajor(dimensions, *minor_to_major);
  return ProgramArgument{{*element_type, std::move(dimensions)}, is_row_major};
}

}  // namespace

std::optional<std::vector<ProgramArgument>> ArgumentsOfHloModule(std::string_view hlo_module) {
  const std::optional<std::string_view> program_shape = FindMessage(hlo_module, kHostProgramShape);
  if (!program_shape.has_value()) return std::nullopt;
  std::vector<ProgramArgument> arguments;
  MessageReader reader(*program_shape);
  while (const std::optional<Field> field = reader.Next()) {
    if (field->number != kParameters) continue;
    std::optional<ProgramArgument> argument = ReadShape(field->bytes);
    if (!argument.has_value()) return std::nullopt;
    arguments.push_back(*std::move(argument));
  }
  if (reader.is_broken()) return std::nullopt;
  return arguments;
}

std::optional<std::vector<ProgramArgument>> ArgumentsOfHloModuleWithConfig(std::string_view hlo) {
  const std::optional<std::string_view> module = FindMessage(hlo, kHloModule);
  return module.has_value() ? ArgumentsOfHloModule(*module) : std::nullopt;
}

}  // namespace plimsoll
