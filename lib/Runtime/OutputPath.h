//===- OutputPath.h - What an output path names -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_OUTPUTPATH_H
#define BLOCKSCALE_LIB_RUNTIME_OUTPUTPATH_H

#include "blockscale/Runtime/Error.h"

#include <string>

namespace mlir::blockscale {

/// Whether a path is a stream or a file, in the sense of OutputFile.h.
struct OutputPath {
  enum class Kind { Stream, File };
  Kind kind;
  /// For a stream: its open descriptor, or -1 if the path must be opened.
  int descriptor = -1;
  /// For a file: the path with its symbolic links followed. The file may not
  /// exist, its last component is not a link.
  std::string target;
};

/// Messages do not name the path; the caller does.
Result<OutputPath> resolveOutputPath(const std::string &path);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_OUTPUTPATH_H
