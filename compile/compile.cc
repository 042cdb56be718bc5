#include "compile/compile.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "ir/verify.h"
#include "llvm/ADT/STLExtras.h"
#include "stablehlo/text_writer.h"

namespace plimsoll {
namespace {

// Anyone who reads this table knows the program. A step may rely on all that those before it leave
// true.
constexpr Step kSteps[] = {
    {"verify",
     "what the later steps take for granted is checked once, with an error that names the line",
     [](Module& module) { return Verify(module); }},
};

Status DumpAfter(const Module& module, size_t number, const Step& step,
                 std::string_view directory) {
  const std::filesystem::path path =
      std::filesystem::path(directory) / StrCat(number, "-", step.name, ".mlir");
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << WriteText(module);
  file.close();
  if (!file) return Status(ErrorCode::kFileProblem, StrCat(path.string(), ": cannot be written"));
  return OkStatus();
}

Status UnknownStep(std::string_view name) {
  std::string known;
  for (const Step& step : kSteps) known += StrCat(known.empty() ? "" : ", ", step.name);
  return Status(ErrorCode::kBadArgument,
                StrCat("there is no step called `", name, "`; the steps are: ", known));
}

}  // namespace

llvm::ArrayRef<Step> PipelineSteps() { return kSteps; }

Status Compile(Module& module, const CompileOptions& options) {
  const bool is_known =
      llvm::any_of(kSteps, [&](const Step& step) { return step.name == options.stop_after; });
  if (!options.stop_after.empty() && !is_known) return UnknownStep(options.stop_after);
  for (size_t i = 0; i < std::size(kSteps); ++i) {
    RETURN_IF_ERROR(kSteps[i].run(module));
    if (!options.dump_directory.empty()) {
      RETURN_IF_ERROR(DumpAfter(module, i + 1, kSteps[i], options.dump_directory));
    }
    if (kSteps[i].name == options.stop_after) break;
  }
  return OkStatus();
}

}  // namespace plimsoll
