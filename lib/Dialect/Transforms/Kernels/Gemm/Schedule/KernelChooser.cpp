//===- KernelChooser.cpp - The interface of choosers ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all choosers share.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/KernelChooser.h"

#include "Kernels/Gemm/Problem/OpSizes.h"
#include "blockscale/Support/Rates.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult KernelChooser::verifySplitK(ProductOpInterface op, int64_t ranges,
                                          int64_t unit,
                                          ScheduleInterface schedule,
                                          EmitErrorFn emitError) {
  int64_t k = getOpSizes(op, ShapedType::kDynamic).k;
  int64_t steps = llvm::divideCeilSigned(k, unit);
  if (op.getRowGroups() && ranges != 1)
    return emitError() << "expected no split-K ranges for groups of rows, got "
                       << schedule;
  if (!ShapedType::isDynamic(k) && ranges > steps)
    return emitError() << "expected at most " << steps
                       << " split-K ranges, one for each stage, got "
                       << schedule;
  return success();
}

int64_t blockscale::getSms(const Chip &chip) {
  auto rate = findRate(chip.capability, &ChipRates::sms);
  return rate ? static_cast<int64_t>(rate->value) : 1;
}
