//===- WgmmaGemvKernel.cpp - GEMV with wgmma ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GEMV of one row of e2m1 by e2m1, on sm_90a only. B of the instructions is
// block-diagonal, so that fp8 wgmma keeps the sums of different scale blocks
// apart; they are scaled exactly afterwards. GemvRoles.h says how. Its
// instructions are lowered in Fragments/WarpgroupGemv.cpp.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/Gemv/GemvRoles.h"
#include "Kernels/Gemm/Mma/Wgmma/MixedInput/DequantizingKernel.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class WgmmaGemvKernel final : public DequantizingKernel {
public:
  KernelKind getKind() const override { return KernelKind::Gemv; }
  OperandTransforms getTransforms(InstructionAttr) const override {
    return {OperandTransform::DequantizedInRegisters,
            OperandTransform::DequantizedInRegisters};
  }

private:
  void emitRoles(const RoleContext &context) const override {
    GemvRoles(context).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getWgmmaGemvKernel() {
  static const WgmmaGemvKernel kernel;
  return kernel;
}
