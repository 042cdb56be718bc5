#include "stablehlo/inherent_attributes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace plimsoll {

void MoveInherentAttributes(Context& context, Opcode opcode, Attribute& properties,
                            Attribute& attributes) {
  if (!attributes) return;
  llvm::SmallVector<NamedAttribute> inherent;
  llvm::SmallVector<NamedAttribute> others;
  for (size_t i = 0; i < attributes.items().size(); ++i) {
    const std::string_view name = attributes.names()[i];
    const bool is_inherent =
        (!properties || !properties.Find(name)) &&
        llvm::any_of(GetOpInfo(opcode).attributes,
                     [&](const InherentAttribute& known) { return known.name == name; });
    (is_inherent ? inherent : others).emplace_back(name, attributes.items()[i]);
  }
  if (inherent.empty()) return;
  for (size_t i = 0; properties && i < properties.items().size(); ++i) {
    inherent.emplace_back(properties.names()[i], properties.items()[i]);
  }
  properties = context.Dictionary(inherent);
  attributes = others.empty() ? Attribute() : context.Dictionary(others);
}

}  // namespace plimsoll
