//===- Fatbin.h - PTX in fatbins and ELF files ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc puts code for several chips into a fatbin, as PTX and as machine code,
// and fatbins into the section .nv_fatbin (with -rdc=true: __nv_relfatbin) of
// objects, programs and libraries; static libraries are archives of objects.
// The format is not documented; what is read here is what nvcc 11 to 13 write.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_FATBIN_H
#define BLOCKSCALE_RUNTIME_FATBIN_H

#include "blockscale/Runtime/Error.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mlir::blockscale {

/// Whether bytes are a fatbin, an ELF file with fatbins, or an archive of such
/// files.
bool hasFatbin(std::string_view image);

/// Decompresses a Zstandard frame to so many bytes.
using Decompress =
    std::function<Result<std::string>(std::string_view bytes, uint64_t size)>;

/// The PTX text of a fatbin (or of the fatbins of an ELF file or an archive)
/// for `target`, such as "sm_90a", or for the newest chip if it is empty. If
/// there are several for one chip, the one with a kernel named `entry`. Without
/// `decompressZstd`, text compressed by Zstandard is an error.
Result<std::string> readFatbin(std::string_view image, std::string_view target,
                               std::string_view entry,
                               const Decompress &decompressZstd);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_FATBIN_H
