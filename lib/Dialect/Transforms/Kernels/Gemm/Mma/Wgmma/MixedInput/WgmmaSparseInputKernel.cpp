//===- WgmmaSparseInputKernel.cpp - A sparse x in registers ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mixed-input kernel with wgmma of a sparse A: x, whose kept elements are
// dequantized in registers. Operands are not swapped.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/MixedInput/DequantizingKernel.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class WgmmaSparseInputKernel final : public DequantizingKernel {
public:
  KernelKind getKind() const override { return KernelKind::SparseInput; }
  OperandTransforms getTransforms(InstructionAttr) const override {
    return {OperandTransform::DequantizedInRegisters,
            OperandTransform::DequantizedInFront};
  }
  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    WarpSpecializedScheduleAttr schedule = getSchedule(problem);
    return ResultTile{schedule.getM(),
                      schedule.getN(),
                      {MixedInputRoles::getTransposedType(schedule)}};
  }

private:
  bool setsInexactFlags() const override { return true; }
  void emitRoles(const RoleContext &context) const override {
    MixedInputRoles(context).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getWgmmaSparseInputKernel() {
  static const WgmmaSparseInputKernel kernel;
  return kernel;
}
