//===- InputFile.h - Whole files as text ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_INPUTFILE_H
#define BLOCKSCALE_RUNTIME_INPUTFILE_H

#include "blockscale/Runtime/Error.h"

#include <cstdint>
#include <string>

namespace mlir::blockscale {

/// Far more than any kernel or launch info needs; guards against endless
/// devices.
inline constexpr uint64_t maxInputSize = uint64_t(1) << 28;

/// All bytes of a file (or of a pipe, up to its end). Messages start with the
/// path.
Result<std::string> readInput(const std::string &path);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_INPUTFILE_H
