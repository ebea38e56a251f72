//===- BlockScaleInterfaces.td - What paths fill in --------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The places at which paths and instructions differ. An attribute or an op that
// implements one of these needs no change in the passes that use it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEINTERFACES_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEINTERFACES_TD

include "mlir/IR/OpBase.td"

def BlockScale_AccLayoutInterface : AttrInterface<"AccLayoutInterface"> {
  let cppNamespace = "::mlir::blockscale";
  let description = [{
    Where the sums of an accumulator are, and with that, who computes them. How
    values of the type are lowered is a row of
    lib/Dialect/Transforms/Fragments/AccLowering.h.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether an accumulator of `m` x `n` sums can lie so; emits an error if
      not.
    }], "::llvm::LogicalResult", "verifyShape",
    (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
         "int64_t":$m, "int64_t":$n)>,
    InterfaceMethod<[{
      Checks the operands of a `tile_mma` with such an accumulator: what
      belongs to the instruction, where `tile_mma` says only what is common.
    }], "::llvm::LogicalResult", "verifyTile",
    (ins "::mlir::blockscale::TileMmaOp &":$op)>
  ];
}

def BlockScale_ScheduleInterface : AttrInterface<"ScheduleInterface"> {
  let cppNamespace = "::mlir::blockscale";
  let description = [{
    How the kernels of a path divide a matrix multiply. Its text form, its
    choice and its limits belong to the path's backend
    (lib/Dialect/Transforms/Kernels/Gemm).
  }];
  let methods = [
    InterfaceMethod<"Whether it divides the kernels of `path`.", "bool",
                    "isFor", (ins "::mlir::blockscale::Path":$path)>,
    InterfaceMethod<"Which kernel of the path it is for.",
                    "::mlir::blockscale::KernelKind", "getKernelKind">
  ];
}

def BlockScale_InstructionOpInterface
    : OpInterface<"InstructionOpInterface"> {
  let cppNamespace = "::mlir::blockscale";
  let description = [{
    An op of the instruction level: one instruction of a GPU, or an address or a
    descriptor for one. It is converted by a pattern of
    `populateBlockScaleToNVVMConversionPatterns` and, for chips that lack it,
    computed in software by one of `populateEmulationPatterns`, if there is one.
  }];
  let methods = [
    InterfaceMethod<"The lowest PTX version that has it, `88` for 8.8.",
                    "unsigned", "getLowestPtxVersion">,
    InterfaceMethod<"Whether `chip` has it.", "bool", "isSupportedOn",
                    (ins "const ::mlir::blockscale::Chip &":$chip)>,
    InterfaceMethod<"What to call it in messages.", "::std::string",
                    "describeInstruction">
  ];
}

def BlockScale_ProductOpInterface : OpInterface<"ProductOpInterface"> {
  let cppNamespace = "::mlir::blockscale";
  let description = [{
    A product of matrices that a path of the chip computes: `mma_scaled`, and
    products of elements as they are, of linalg. Operands are such as those of
    `mma_scaled`.
  }];
  let methods = [
    InterfaceMethod<[{
      The types of its elements and scales. Without scales, one for elements
      that no instruction takes has the format `None`.
    }], "::mlir::blockscale::TypeCombination", "getTypes">,
    InterfaceMethod<"The first matrix, `[batch,] M, K`.", "::mlir::Value",
                    "getX">,
    InterfaceMethod<"The scales of the first matrix; null without.",
                    "::mlir::Value", "getXScale">,
    InterfaceMethod<"The second matrix, `[batch,] K, N`.", "::mlir::Value",
                    "getY">,
    InterfaceMethod<"The scales of the second matrix; null without.",
                    "::mlir::Value", "getYScale">,
    InterfaceMethod<"What the product is added to, `[batch,] M, N`.",
                    "::mlir::Value", "getAcc">,
    InterfaceMethod<"Whether the operands are tensors.", "bool",
                    "hasTensorSemantics">
  ];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEINTERFACES_TD
