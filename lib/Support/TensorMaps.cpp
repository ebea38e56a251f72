//===- TensorMaps.cpp - Limits of tensor maps -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source: CUDA driver API, CUtensorMapDataType: 16U4_ALIGN8B, 16U4_ALIGN16B and
// 16U6_ALIGN16B.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/TensorMaps.h"

using namespace mlir;
using namespace mlir::blockscale;

bool blockscale::hasPaddedTensorMaps(const Chip &chip) {
  constexpr unsigned kBlackwell = 100;
  return chip.capability >= kBlackwell;
}
