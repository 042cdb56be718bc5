// What a handler of XLA's foreign function interface sees of it, as far as kernels need it. The
// layout has been the same since version 0.1, which is the one that the handler says it speaks, so
// that every XLA takes it.

#ifndef PLIMSOLL_KERNELS_CPU_XLA_FFI_H_
#define PLIMSOLL_KERNELS_CPU_XLA_FFI_H_

#include <cstddef>
#include <cstdint>

namespace plimsoll::ffi {

struct Error;
struct Context;

struct Extension {
  size_t struct_size;
  int type;
  Extension* next;
};
inline constexpr int kMetadataExtension = 1;

struct Version {
  size_t struct_size;
  Extension* extension;
  int major;
  int minor;
};

struct Metadata {
  size_t struct_size;
  Version version;
  uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Buffer {
  size_t struct_size;
  Extension* extension;
  int type;
  void* data;
  int64_t rank;
  int64_t* dimensions;
};

struct Text {
  const char* data;
  size_t size;
};
inline constexpr int kTextAttribute = 4;

struct Scalar {
  int type;
  const void* value;
};
inline constexpr int kScalarAttribute = 3;
inline constexpr int kF64 = 12;

struct Buffers {
  size_t struct_size;
  Extension* extension;
  int64_t size;
  int* kinds;
  Buffer** buffers;
};

struct Attributes {
  size_t struct_size;
  Extension* extension;
  int64_t size;
  int* kinds;
  Text** names;
  void** values;
};

struct ErrorArguments {
  size_t struct_size;
  Extension* extension;
  const char* message;
  int code;
};
inline constexpr int kInternalError = 13;

struct ScheduleArguments {
  size_t struct_size;
  Extension* extension;
  Context* context;
  void (*task)(void* data);
  void* data;
};

struct ThreadCountArguments {
  size_t struct_size;
  Extension* extension;
  Context* context;
  int64_t* count;
};

struct Api {
  size_t struct_size;
  Extension* extension;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorArguments*);
  void (*get_details)(void*);
  void (*destroy_error)(void*);
  void* unused[8];
  Error* (*schedule)(ScheduleArguments*);
  Error* (*thread_count)(ThreadCountArguments*);
};

struct DestroyArguments {
  size_t struct_size;
  Extension* extension;
  Error* error;
};

struct CallFrame {
  size_t struct_size;
  Extension* extension;
  const Api* api;
  Context* context;
  int stage;
  Buffers operands;
  Buffers results;
  Attributes attributes;
};

}  // namespace plimsoll::ffi

#endif  // PLIMSOLL_KERNELS_CPU_XLA_FFI_H_
