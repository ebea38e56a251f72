//===- WgmmaMixedInputKernel.cpp - Mixed-input GEMM with wgmma ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixed-input GEMM, swap-AB: y is A of the instructions, dequantized in
// registers on its way from shared memory. x is B, bf16 values that a kernel in
// front has dequantized or permuted.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/MixedInput/DequantizingKernel.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class WgmmaMixedInputKernel final : public DequantizingKernel {
public:
  KernelKind getKind() const override { return KernelKind::MixedInput; }
  bool takesGroups() const override { return true; }
  RowGather getRowGather() const override { return RowGather::InFront; }
  OperandTransforms getTransforms(InstructionAttr) const override {
    return {OperandTransform::DequantizedInFront,
            OperandTransform::DequantizedInRegisters};
  }

private:
  bool setsInexactFlags() const override { return true; }
  void emitRoles(const RoleContext &context) const override {
    MixedInputRoles(context).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getWgmmaMixedInputKernel() {
  static const WgmmaMixedInputKernel kernel;
  return kernel;
}
