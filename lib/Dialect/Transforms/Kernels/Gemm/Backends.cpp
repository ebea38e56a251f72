//===- Backends.cpp - The table of backends -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that knows which path has which backend, and what holds for
// the schedules of all.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Backend.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
struct Row {
  Path path;
  const KernelBackend &(*get)();
};
} // namespace

LogicalResult ScheduleRules::verifyParts(ProductOpInterface op,
                                         const SplitKRule &split,
                                         ScheduleInterface schedule,
                                         EmitErrorFn emitError) {
  int64_t k = getOpSizes(op, ShapedType::kDynamic).k;
  int64_t steps = llvm::divideCeilSigned(k, split.unit);
  if (!ShapedType::isDynamic(k) && split.parts > steps)
    return emitError() << "expected at most " << steps
                       << " parts of K, one for each stage, got " << schedule;
  return success();
}

static constexpr Row kBackends[] = {
    {Path::Decompose, getReferenceBackend},
    {Path::MmaSync, getMmaSyncBackend},
    {Path::DequantMma, getDequantMmaBackend},
    {Path::Tcgen05, getTcgen05Backend},
    {Path::Wgmma, getWgmmaBackend},
};

const KernelBackend *blockscale::getKernelBackend(Path path) {
  for (const Row &row : kBackends)
    if (row.path == path)
      return &row.get();
  return nullptr;
}

std::string blockscale::describeMixedInputPaths() {
  SmallVector<StringRef> names;
  for (const Row &row : kBackends)
    if (row.get().takesMixedInput())
      names.push_back(getPathInfo(row.path).name);
  return "the path " + llvm::join(names, " or ");
}
