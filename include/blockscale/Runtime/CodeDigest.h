//===- CodeDigest.h - Launch infos and the code they are of -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch info belongs to one code only, since grids and tensor maps depend on
// its tiles. With the code of another schedule or chip it would run and compute
// wrong results, so it has a digest of its code.
// python/blockscale/runtime/code_digest.py computes the same.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_CODEDIGEST_H
#define BLOCKSCALE_RUNTIME_CODEDIGEST_H

#include "blockscale/Runtime/LaunchInfo.h"

namespace mlir::blockscale {

/// SHA-256 (FIPS 180-4) as 64 hexadecimal digits.
std::string computeSha256(std::string_view bytes);

/// A PTX text with one space for each run of white space, comments, and
/// directives `.loc` and `.file`, which last to the end of their line.
std::string normalizePtx(std::string_view text);

/// The digest of target, schedule, names and parameters of `info`, and of
/// `image`: a PTX text in its normal form, or the bytes of a cubin.
std::string computeCodeDigest(const LaunchInfo &info, std::string_view image);

/// Writes the digest of `image` into `info`, which is complete otherwise.
void attachCodeDigest(LaunchInfo &info, std::string_view image);

/// The names of code and launch info in messages, such as "'a.json'".
struct CodeOrigin {
  std::string info, image;
  /// Whether code may differ in everything but its chip, and the names and
  /// parameters of kernels.
  bool allowsEdits = false;
};

/// Checks `image` against the target and the digest of `info`. A handwritten
/// launch info may have no digest, and is not checked. The result is a warning,
/// or empty.
Result<std::string> checkCode(const LaunchInfo &info, std::string_view image,
                              const CodeOrigin &origin);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_CODEDIGEST_H
