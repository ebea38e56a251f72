//===- InputFile.cpp - Whole files as text --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads whole files up to a limit, since an endless source such as /dev/zero
// must not take all memory.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/InputFile.h"
#include "ByteSource.h"

using namespace mlir;
using namespace mlir::blockscale;

Result<std::string> blockscale::readInput(const std::string &path) {
  FileSource source;
  if (Error error = source.open(path))
    return pathError(path, error.message());
  constexpr size_t chunk = 1 << 16;
  std::string text;
  while (text.size() <= maxInputSize) {
    size_t old = text.size();
    text.resize(old + chunk);
    Result<size_t> got = source.read(text.data() + old, chunk);
    if (!got)
      return pathError(path, got.message());
    text.resize(old + *got);
    if (*got < chunk)
      return text;
  }
  return pathError(path, "file too large: expected at most " +
                             std::to_string(maxInputSize) + " bytes, got more");
}
