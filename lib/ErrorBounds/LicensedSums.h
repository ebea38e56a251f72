//===- LicensedSums.h - What fp8 tensor cores lose --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_ERRORBOUNDS_LICENSEDSUMS_H
#define BLOCKSCALE_LIB_ERRORBOUNDS_LICENSEDSUMS_H

#include "IntervalGeneric.h"

namespace mlir::blockscale {

/// What tensor cores may lose of the sums of `op`, before these are added in
/// f32: a tensor of f64 with the sizes of the result. Null if `op` is no
/// licensed sum (see ProductTerms.h).
Value buildLicensedErrors(OpBuilder &builder, linalg::GenericOp op,
                          const IntervalMap &intervals);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_LICENSEDSUMS_H
