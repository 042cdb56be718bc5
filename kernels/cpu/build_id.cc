#include "kernels/cpu/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

namespace plimsoll {
namespace {

struct Search {
  ElfW(Addr) inside = 0;  // An address in what is looked for.
  std::string id = {};
};

bool Contains(const dl_phdr_info& library, ElfW(Addr) address) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = library.dlpi_phdr[i];
    const ElfW(Addr) start = library.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= start && address - start < part.p_memsz) return true;
  }
  return false;
}

// The id if it is among these notes; each is a header, a name and a content, aligned to 4 bytes.
std::string IdAmong(llvm::StringRef notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(notes.data());
    notes = notes.drop_front(sizeof(note));
    const llvm::StringRef name = notes.take_front(note.n_namesz);
    notes = notes.substr(llvm::alignTo(note.n_namesz, 4));
    const llvm::StringRef content = notes.take_front(note.n_descsz);
    notes = notes.substr(llvm::alignTo(note.n_descsz, 4));
    if (note.n_type == NT_GNU_BUILD_ID && name == llvm::StringRef("GNU", 4)) return content.str();
  }
  return "";
}

int Look(dl_phdr_info* library, size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!Contains(*library, search.inside)) return 0;
  for (int i = 0; i < library->dlpi_phnum && search.id.empty(); ++i) {
    const ElfW(Phdr) & part = library->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    search.id =
        IdAmong({reinterpret_cast<const char*>(library->dlpi_addr + part.p_vaddr), part.p_memsz});
  }
  return 1;
}

}  // namespace

const std::string& BuildId() {
  static const std::string id = [] {
    Search search = {.inside = reinterpret_cast<ElfW(Addr)>(&Look)};
    dl_iterate_phdr(&Look, &search);
    return search.id;
  }();
  return id;
}

}  // namespace plimsoll
