//===- SourceLines.cpp - Lines of the source in messages ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages name lines of the PTX text in many ways; this file adds the source
// line to all of them.
//
//===----------------------------------------------------------------------===//

#include "Launch/SourceLines.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The source of a line, as ` (FILE:LINE)`; empty if it is not known.
static std::string describeSource(uint32_t line, const Module &module) {
  auto next = llvm::upper_bound(
      module.sourceLines, line,
      [](uint32_t line, const auto &row) { return line < row.line; });
  if (next == module.sourceLines.begin())
    return "";
  const Module::SourceLine &row = *std::prev(next);
  auto file = module.files.find(row.file);
  // Line 0 marks code without a source line.
  if (file == module.files.end() || row.fileLine == 0)
    return "";
  return " (" + llvm::sys::path::filename(file->second).str() + ":" +
         std::to_string(row.fileLine) + ")";
}

std::string sim::addSourceLines(const std::string &message,
                                const Module &module) {
  if (module.sourceLines.empty())
    return message;
  static constexpr llvm::StringRef kLine = "line ";
  llvm::StringRef rest = message;
  std::string text;
  while (true) {
    size_t found = rest.find(kLine);
    if (found == llvm::StringRef::npos)
      return text + rest.str();
    bool isWord = found == 0 || !llvm::isAlnum(rest[found - 1]);
    text += rest.take_front(found + kLine.size());
    rest = rest.drop_front(found + kLine.size());
    llvm::StringRef digits = rest.take_while(llvm::isDigit);
    uint32_t line;
    if (!isWord || digits.getAsInteger(10, line))
      continue;
    // Behind a column, if there is one.
    llvm::StringRef location = digits;
    llvm::StringRef behind = rest.drop_front(digits.size());
    if (behind.consume_front(":"))
      if (size_t column = behind.take_while(llvm::isDigit).size())
        location = rest.take_front(digits.size() + 1 + column);
    text += location.str() + describeSource(line, module);
    rest = rest.drop_front(location.size());
  }
}
