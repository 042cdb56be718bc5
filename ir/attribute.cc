#include "ir/attribute.h"

#include <algorithm>

#include "ir/print.h"
#include "ir/status.h"

namespace plimsoll {

double Attribute::float_value() const {
  const llvm::fltSemantics& semantics = FloatSemantics(type().float_kind());
  return llvm::APFloat(semantics,
                       llvm::APInt(llvm::APFloat::getSizeInBits(semantics), float_bits()))
      .convertToDouble();
}

Attribute Attribute::Find(std::string_view name) const {
  const llvm::ArrayRef<std::string_view> all = names();
  if (kind() == AttributeKind::kDictionary) {
    const auto* found = std::lower_bound(all.begin(), all.end(), name);
    return found != all.end() && *found == name ? items()[found - all.begin()] : Attribute();
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == name) return items()[i];
  }
  return {};
}

bool Attribute::is_splat() const {
  const std::optional<int64_t> size = type().element_type().bytes_per_element();
  return size && static_cast<size_t>(*size) == bytes().size();
}

llvm::ArrayRef<int64_t> Attribute::integers() const {
  return {reinterpret_cast<const int64_t*>(bytes().data()), bytes().size() / sizeof(int64_t)};
}

std::string Attribute::ToString() const {
  std::string out;
  Print(*this, out);
  return out;
}

Attribute FindFileLocation(Location location) {
  while (location) {
    switch (location.kind()) {
      case AttributeKind::kFileLocation:
        return location;
      case AttributeKind::kNameLocation:
        location = location.child();
        break;
      case AttributeKind::kCallSiteLocation:
        if (const Attribute found = FindFileLocation(location.callee())) return found;
        location = location.caller();
        break;
      case AttributeKind::kFusedLocation:
        for (const Attribute member : location.items()) {
          if (const Attribute found = FindFileLocation(member)) return found;
        }
        return {};
      default:
        return {};
    }
  }
  return {};
}

std::string SourceLine(Location location) {
  const Attribute file = FindFileLocation(location);
  if (!file) return "";
  const std::string_view path = file.text();
  // MLIR calls the text that it reads "-"; ops without locations are where they stand in it.
  if (path == "-") return StrCat("line ", file.start_line(), " of the text");
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return StrCat(name, ":", file.start_line());
}

}  // namespace plimsoll
