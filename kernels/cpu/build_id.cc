#include "kernels/cpu/build_id.h"

#include <elf.h>
#include <link.h>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

namespace plimsoll {
namespace {

// The linker's name for where the file that this is linked into begins in memory.
extern "C" const char file_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));

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

std::string FindBuildId() {
  const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(file_start);
  const llvm::ArrayRef<ElfW(Phdr)> parts(
      reinterpret_cast<const ElfW(Phdr)*>(file_start + header.e_phoff), header.e_phnum);
  for (const ElfW(Phdr) & part : parts) {
    if (part.p_type != PT_NOTE) continue;
    // Linkers put notes right behind the header, so they lie in memory as they do in the file.
    std::string id = IdAmong({file_start + part.p_offset, part.p_filesz});
    if (!id.empty()) return id;
  }
  return "";
}

}  // namespace

const std::string& BuildId() {
  static const std::string id = FindBuildId();
  return id;
}

}  // namespace plimsoll
