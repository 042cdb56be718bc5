#include "pjrt/compile_options.h"

#include <bit>
#include <string_view>
#include <type_traits>
#include <variant>

namespace plimsoll {
namespace {

// Field numbers of xla/pjrt/proto/compile_options.proto. Protocol buffers never give a number a new
// meaning.
enum CompileOptionsField { kExecutableBuildOptions = 3, kEnvOptionOverrides = 7 };
enum ExecutableBuildOptionsField {
  kDeviceOrdinal = 1,
  kNumReplicas = 4,
  kNumPartitions = 5,
  kProcessCount = 23,
};
enum MapEntryField { kKey = 1, kValue = 2 };
enum OptionOverrideField { kString = 1, kBool = 2, kInt = 3, kDouble = 4 };

// Leaves the choice of the device to the engine.
constexpr int64_t kNoDeviceOrdinal = -1;

// Writes the fields of one message in protocol buffers' wire format.
class MessageWriter {
 public:
  void WriteInt(int field, int64_t value) {
    WriteTag(field, kVarint);
    WriteVarint(static_cast<uint64_t>(value));
  }
  void WriteDouble(int field, double value) {
    WriteTag(field, kFixed64);
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift));
  }
  void WriteBytes(int field, std::string_view value) {
    WriteTag(field, kLengthDelimited);
    WriteVarint(value.size());
    bytes_ += value;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  enum WireType { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };

  void WriteTag(int field, WireType type) {
    WriteVarint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type));
  }
  void WriteVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

StatusOr<std::string> SerializeOverride(const Option& flag) {
  MessageWriter message;
  Status status;
  std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          message.WriteBytes(kString, value);
        } else if constexpr (std::is_same_v<Value, bool>) {
          message.WriteInt(kBool, value ? 1 : 0);
        } else if constexpr (std::is_same_v<Value, int64_t>) {
          message.WriteInt(kInt, value);
        } else if constexpr (std::is_same_v<Value, double>) {
          message.WriteDouble(kDouble, value);
        } else {
          status = Status(ErrorCode::kBadArgument,
                          StrCat("XLA flag ", flag.name,
                                 ": expected text, a boolean or a number, found a list; write a "
                                 "list as text with commas"));
        }
      },
      flag.value);
  RETURN_IF_ERROR(status);
  return message.bytes();
}

}  // namespace

StatusOr<std::string> Serialize(const CompileOptions& options) {
  // A number that is left out reads as 0, which is not what XLA's own defaults are.
  MessageWriter build_options;
  build_options.WriteInt(kDeviceOrdinal, kNoDeviceOrdinal);
  build_options.WriteInt(kNumReplicas, options.num_replicas);
  build_options.WriteInt(kNumPartitions, options.num_partitions);
  build_options.WriteInt(kProcessCount, 1);

  MessageWriter message;
  message.WriteBytes(kExecutableBuildOptions, build_options.bytes());
  for (const Option& flag : options.xla_flags) {
    ASSIGN_OR_RETURN(const std::string value, SerializeOverride(flag));
    MessageWriter entry;
    entry.WriteBytes(kKey, flag.name);
    entry.WriteBytes(kValue, value);
    message.WriteBytes(kEnvOptionOverrides, entry.bytes());
  }
  return message.bytes();
}

}  // namespace plimsoll
