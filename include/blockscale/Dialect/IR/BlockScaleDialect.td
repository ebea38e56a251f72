//===- BlockScaleDialect.td - The blockscale dialect -------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEDIALECT_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEDIALECT_TD

include "mlir/IR/OpBase.td"

def BlockScale_Dialect : Dialect {
  let name = "blockscale";
  let cppNamespace = "::mlir::blockscale";
  let summary = "block-scaled matrix multiplication";
  let description = [{
    Matrix multiplication of narrow floating-point operands that carry one
    scale for every 16 or 32 elements along K: MXFP8, MXFP6, MXFP4 (OCP
    Microscaling Formats v1.0) and NVFP4.

    The ops of this dialect say *what* is computed, on tensors or vectors of any
    shape. `blockscale-decompose` defines their meaning in upstream dialects.
    Ops of the kernel level compute one tile in shared memory, and ops of the
    instruction level stand for one instruction.
  }];
  let extraClassDeclaration = [{
    void addAttributesAndTypes();
  }];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEDIALECT_TD
