//===- TensorMaps.h - Limits of tensor maps ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chips that have bulk copies differ in the types of their tensor maps.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_TENSORMAPS_H
#define BLOCKSCALE_SUPPORT_TENSORMAPS_H

#include "blockscale/Support/Chips.h"

namespace mlir::blockscale {

/// Whether tensor maps on `chip` support packed elements of 4 or 6 bits, which
/// copies expand to units of 16 bytes with padding.
bool hasPaddedTensorMaps(const Chip &chip);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_TENSORMAPS_H
