// The graph: a module holds ops, an op holds operands, results and regions, a region holds blocks
// of ops.

#ifndef PLIMSOLL_IR_GRAPH_H_
#define PLIMSOLL_IR_GRAPH_H_

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "ir/context.h"
#include "ir/opcode.h"
#include "ir/type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace plimsoll {

class Block;
class Op;
class Region;
class Value;

// One use of a value: an operand of an op. The uses of a value form a list in the order in which
// they were made.
class Operand {
 public:
  Operand() = default;
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  ~Operand() { Set(nullptr); }

  Value* value() const { return value_; }
  Op* owner() const { return owner_; }
  size_t index() const;
  Operand* next_use() const { return next_; }
  void Set(Value* value);

 private:
  friend class Op;
  Value* value_ = nullptr;
  Op* owner_ = nullptr;
  Operand* previous_ = nullptr;
  Operand* next_ = nullptr;
};

// A result of an op or an argument of a block.
class Value {
 public:
  Value() = default;
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  // Uses that are left become null: a broken program may use what is defined later.
  ~Value() { ReplaceAllUsesWith(nullptr); }

  Type type() const { return type_; }
  void set_type(Type type) { type_ = type; }
  // The op that this is a result of; null for a block's argument.
  Op* defining_op() const { return op_; }
  // The block that this is an argument of, or that holds the defining op.
  Block* block() const;
  bool is_argument() const { return op_ == nullptr; }
  // The number among the op's results or the block's arguments.
  size_t index() const { return index_; }
  // Where the value comes from in the user's program.
  Location location() const;
  void set_argument_location(Location location) { location_ = location; }

  Operand* first_use() const { return first_use_; }
  bool has_uses() const { return first_use_ != nullptr; }
  bool has_one_use() const { return first_use_ != nullptr && first_use_->next_use() == nullptr; }
  size_t use_count() const;
  std::vector<Op*> users() const;
  void ReplaceAllUsesWith(Value* other);

 private:
  friend class Block;
  friend class Op;
  friend class Operand;
  Type type_;
  Op* op_ = nullptr;
  Block* block_ = nullptr;
  size_t index_ = 0;
  Location location_;
  Operand* first_use_ = nullptr;
  Operand* last_use_ = nullptr;
};

// Which value stands for which while ops are copied.
using ValueMap = llvm::DenseMap<const Value*, Value*>;

class Op {
 public:
  // `name` must live as long as the op: it comes from the context or the table. The regions are
  // made empty.
  static std::unique_ptr<Op> Create(std::string_view name, Location location,
                                    llvm::ArrayRef<Type> result_types,
                                    llvm::ArrayRef<Value*> operands, Attribute properties = {},
                                    Attribute attributes = {}, size_t region_count = 0);
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  ~Op();

  Opcode opcode() const { return opcode_; }
  bool Is(Opcode opcode) const { return opcode_ == opcode; }
  std::string_view name() const { return name_; }
  Location location() const { return location_; }
  void set_location(Location location) { location_ = location; }

  // Inherent attributes (written <{...}>) and the others (written {...}): dictionaries, null when
  // empty.
  Attribute properties() const { return properties_; }
  Attribute attributes() const { return attributes_; }
  void set_properties(Attribute dictionary) { properties_ = dictionary; }
  void set_attributes(Attribute dictionary) { attributes_ = dictionary; }
  // The attribute of that name, inherent ones first; null if there is none.
  Attribute Get(std::string_view name) const;
  // Sets one inherent attribute.
  void SetProperty(Context& context, std::string_view name, Attribute value);

  size_t operand_count() const { return operand_count_; }
  Value* operand(size_t index) const { return operands_[index].value(); }
  void set_operand(size_t index, Value* value) { operands_[index].Set(value); }
  std::vector<Value*> operands() const;
  llvm::MutableArrayRef<Operand> operand_uses() { return {operands_.get(), operand_count_}; }
  void set_operands(llvm::ArrayRef<Value*> operands);

  size_t result_count() const { return result_count_; }
  Value* result(size_t index) const { return &results_[index]; }
  std::vector<Value*> results() const;
  std::vector<Type> result_types() const;

  size_t region_count() const { return regions_.size(); }
  Region& region(size_t index) const { return *regions_[index]; }
  // The first block of the first region, such as a function's body; null if there is none.
  Block* entry_block() const;
  Region& AddRegion();
  Region& AddRegion(std::unique_ptr<Region> region);

  Block* block() const { return block_; }
  // The op whose region this one is in; null for a module's own op.
  Op* parent() const;
  Op* next() const { return next_; }
  Op* previous() const { return previous_; }
  // True if the other op is in the same block and comes later. Walks from there to here.
  bool IsBefore(const Op& other) const;

  // Takes the op out of its block without destroying it.
  std::unique_ptr<Op> Remove();
  // Destroys the op. Its results must have no uses.
  void Erase();
  // Copies the op with its regions. Operands that `values` knows are replaced; results and
  // arguments are added to it.
  std::unique_ptr<Op> Clone(ValueMap& values) const;

 private:
  friend class Block;
  Op() = default;

  Opcode opcode_ = Opcode::kUnknown;
  std::string_view name_;
  Location location_;
  Attribute properties_;
  Attribute attributes_;
  size_t operand_count_ = 0;
  size_t result_count_ = 0;
  std::unique_ptr<Operand[]> operands_;
  std::unique_ptr<Value[]> results_;
  std::vector<std::unique_ptr<Region>> regions_;
  Block* block_ = nullptr;
  Op* previous_ = nullptr;
  Op* next_ = nullptr;
};

// Walks the ops of a block. The op at hand may be erased only after stepping on:
// llvm::make_early_inc_range.
class OpIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = Op;
  using difference_type = std::ptrdiff_t;
  using pointer = Op*;
  using reference = Op&;

  OpIterator() = default;
  explicit OpIterator(Op* op) : op_(op) {}
  Op& operator*() const { return *op_; }
  Op* operator->() const { return op_; }
  OpIterator& operator++() {
    op_ = op_->next();
    return *this;
  }
  OpIterator operator++(int) {
    OpIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const OpIterator&) const = default;

 private:
  Op* op_ = nullptr;
};

class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  Region* region() const { return region_; }
  // The op whose region this block is in.
  Op* parent() const;

  size_t argument_count() const { return arguments_.size(); }
  Value* argument(size_t index) const { return arguments_[index].get(); }
  Value* AddArgument(Type type, Location location);
  // Removes an argument that has no uses; those behind it move up.
  void RemoveArgument(size_t index);

  bool empty() const { return first_ == nullptr; }
  Op* first() const { return first_; }
  Op* last() const { return last_; }
  OpIterator begin() const { return OpIterator(first_); }
  OpIterator end() const { return OpIterator(); }

  Op* Append(std::unique_ptr<Op> op) { return InsertBefore(nullptr, std::move(op)); }
  // Null appends.
  Op* InsertBefore(Op* position, std::unique_ptr<Op> op);

 private:
  friend class Op;
  friend class Region;
  Region* region_ = nullptr;
  std::vector<std::unique_ptr<Value>> arguments_;
  Op* first_ = nullptr;
  Op* last_ = nullptr;
};

class Region {
 public:
  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  Op* parent() const { return parent_; }
  bool empty() const { return blocks_.empty(); }
  size_t block_count() const { return blocks_.size(); }
  Block& block(size_t index) const { return *blocks_[index]; }
  // The entry block. The region must have one.
  Block& front() const { return *blocks_.front(); }
  Block& AddBlock();
  // Moves the other region's blocks to the end of this one.
  void TakeBlocks(Region& other);
  // Appends copies of the other region's blocks.
  void CloneFrom(const Region& other, ValueMap& values);

 private:
  friend class Op;
  Op* parent_ = nullptr;
  std::vector<std::unique_ptr<Block>> blocks_;
};

// Bytes that a program names by a key, such as those of dense_resource attributes.
struct Resource {
  // kBlob's bytes start with their alignment (4 bytes, little endian) in the text; here they are
  // apart.
  enum class Kind : uint8_t { kBlob, kBool, kString };
  std::string_view group;  // A dialect's name, or the name of an external group.
  bool is_external = false;
  std::string_view key;
  Kind kind = Kind::kBlob;
  uint32_t alignment = 1;
  llvm::ArrayRef<char> bytes;  // kBool: one byte. kString: the text.
};

// A whole program.
class Module {
 public:
  explicit Module(std::shared_ptr<Context> context);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }

  // A copy that shares the context.
  std::unique_ptr<Module> Clone() const;

  // The op builtin.module itself.
  Op& op() const { return *op_; }
  void set_op(std::unique_ptr<Op> op) { op_ = std::move(op); }
  Block& body() const { return op_->region(0).front(); }

  std::vector<Op*> functions() const;
  // The function of that name, or null.
  Op* FindFunction(std::string_view name) const;
  // The function that is run: the one called main, or the only public one, or the only one; null if
  // unclear.
  Op* main() const;

  std::vector<Resource>& resources() { return resources_; }
  const std::vector<Resource>& resources() const { return resources_; }

 private:
  std::shared_ptr<Context> context_;
  std::vector<Resource> resources_;
  std::unique_ptr<Op> op_;
};

// The number that a constant scalar of integers holds; nothing if the value is not one.
std::optional<int64_t> ConstantScalar(const Value& value);

// The name of a function or another op with a symbol; "" if it has none.
std::string_view SymbolName(const Op& op);

// The name that the user gave a function's argument, which JAX puts into its location, or "arg2".
std::string ArgumentName(const Value& argument);

// Calls `visit` for the op and all ops inside, each op before those in its regions, in order.
void Walk(Op& op, llvm::function_ref<void(Op&)> visit);

}  // namespace plimsoll

#endif  // PLIMSOLL_IR_GRAPH_H_
