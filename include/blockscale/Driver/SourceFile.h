//===- SourceFile.h - Reading input programs --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_SOURCEFILE_H
#define BLOCKSCALE_DRIVER_SOURCEFILE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <string>

namespace mlir::blockscale {

/// The limit of nesting: upstream's parser is recursive and would overflow the
/// stack.
inline constexpr unsigned kMaxNesting = 256;

/// A position in a text, counted from 1.
struct SourcePosition {
  unsigned line;
  unsigned column;
};

/// The first position of `text`, in MLIR's syntax, at which brackets (and the
/// aliases used inside them), or a chain of minus signs, are nested deeper than
/// `kMaxNesting`.
std::optional<SourcePosition> findTooDeepNesting(StringRef text);

/// The contents of the file at `path` ("-" is standard input), null-terminated.
/// Null, with a message in `error`, if it cannot be read or nests too deeply.
std::unique_ptr<llvm::MemoryBuffer> readSourceFile(StringRef path,
                                                   std::string &error);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_SOURCEFILE_H
