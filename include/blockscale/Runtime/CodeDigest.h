//===- CodeDigest.h - Launch infos and the code they are of -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch info fits one code only: grids and tensor maps are those of its
// tiles. Beside the code of another schedule or chip it would run and compute
// something else, so it bears a digest of what it was written with.
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

/// Writes the digest of `image` into `info`, which has all else.
void attachCodeDigest(LaunchInfo &info, std::string_view image);

/// Whose code is held against which launch info, for messages: "'a.json'".
struct CodeOrigin {
  std::string info, image;
  /// Whether code may differ in all but its chip, and names and parameters of
  /// kernels.
  bool allowsEdits = false;
};

/// Holds `image` against the target and the digest of `info`, which has none if
/// a person wrote it: then there is nothing to check. The result is a warning,
/// or empty.
Result<std::string> checkCode(const LaunchInfo &info, std::string_view image,
                              const CodeOrigin &origin);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_CODEDIGEST_H
