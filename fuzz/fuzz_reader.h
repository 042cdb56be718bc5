// What every fuzzer of a reader does with a program that was read: it must survive all that can be
// done with it.

#ifndef PLIMSOLL_FUZZ_FUZZ_READER_H_
#define PLIMSOLL_FUZZ_FUZZ_READER_H_

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "compile/json.h"
#include "compile/summary.h"
#include "ir/graph.h"
#include "ir/status.h"
#include "ir/verify.h"
#include "stablehlo/text_reader.h"
#include "stablehlo/text_writer.h"

namespace plimsoll {

// Verifies and summarizes the program, writes it and reads that again. The text of a program that
// keeps the rules must be read, and be the same when it is written once more; of one that breaks
// them it must only be survived.
inline void ExerciseModule(Module& module) {
  const bool is_valid = Verify(module).ok();
  (void)SummarizeAsJson(module, 20);
  Walk(module.op(), [](Op& op) { (void)AttributesToJson(op); });
  const std::string text = WriteText(module);
  const StatusOr<std::unique_ptr<Module>> again = ReadText(text, "written");
  if (!is_valid) {
    if (again.ok()) (void)WriteText(**again);
    return;
  }
  if (!again.ok()) {
    std::cerr << "the written text is refused: " << again.status().ToString() << "\n" << text;
    std::abort();
  }
  if (WriteText(**again) != text) {
    std::cerr << "the text changes when it is read and written again:\n"
              << text << WriteText(**again);
    std::abort();
  }
}

}  // namespace plimsoll

#endif  // PLIMSOLL_FUZZ_FUZZ_READER_H_
