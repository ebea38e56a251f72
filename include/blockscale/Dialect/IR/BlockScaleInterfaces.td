//===- BlockScaleInterfaces.td - Interfaces of the dialect -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The points at which paths and instructions differ. Passes use only these
// interfaces, so that a new attribute or op needs no change in them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEINTERFACES_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEINTERFACES_TD

include "mlir/IR/OpBase.td"

def BlockScale_AccLayoutInterface : AttrInterface<"AccLayoutInterface"> {
  let cppNamespace = "::mlir::blockscale";
  let description = [{
    Where the sums of an accumulator are, and so, which warps compute them. The
    table in lib/Dialect/Transforms/Fragments/AccLowering.h says how values of
    the type are lowered.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether an accumulator of `m` x `n` sums can have this layout; emits an
      error if not.
    }], "::llvm::LogicalResult", "verifyShape",
    (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
         "int64_t":$m, "int64_t":$n)>,
    InterfaceMethod<[{
      Checks the operands of a `tile_mma` with such an accumulator: the rules
      of the instruction, beyond those that `tile_mma` checks for all.
    }], "::llvm::LogicalResult", "verifyTile",
    (ins "::mlir::blockscale::TileMmaOp &":$op)>
  ];
}

def BlockScale_ScheduleInterface : AttrInterface<"ScheduleInterface"> {
  let cppNamespace = "::mlir::blockscale";
  let description = [{
    How the kernels of a path divide a matrix multiply. The path's backend
    (lib/Dialect/Transforms/Kernels/Gemm) parses its text form, chooses it and
    checks its limits.
  }];
  let methods = [
    InterfaceMethod<"Whether it is a schedule for kernels of `path`.", "bool",
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
    descriptor for one. A pattern of
    `populateBlockScaleToNVVMConversionPatterns` converts it. For chips that
    lack it, a pattern of `populateEmulationPatterns` may replace it by
    software.
  }];
  let methods = [
    InterfaceMethod<"The lowest PTX version that has it, `88` for 8.8.",
                    "unsigned", "getLowestPtxVersion">,
    InterfaceMethod<"Whether `chip` has it.", "bool", "isSupportedOn",
                    (ins "const ::mlir::blockscale::Chip &":$chip)>,
    InterfaceMethod<"Its name in messages.", "::std::string",
                    "describeInstruction">
  ];
}

def BlockScale_ProductOpInterface : OpInterface<"ProductOpInterface"> {
  let cppNamespace = "::mlir::blockscale";
  let description = [{
    A matrix multiply that a path of the chip computes: `mma_scaled`,
    `sparse_mma_scaled`, a grouped product, or a matmul of linalg or a
    `promoted_matmul`, whose operands have no scales. Operands have the shapes of those of `mma_scaled`; a sparse
    first matrix has half of its K. With groups of rows, only the second matrix
    has a batch.
  }];
  let methods = [
    InterfaceMethod<[{
      The types of its elements and scales. Elements that no instruction takes,
      in a matmul without scales, have the format `None`.
    }], "::mlir::blockscale::TypeCombination", "getTypes">,
    InterfaceMethod<"The first matrix, `[batch,] M, K`.", "::mlir::Value",
                    "getX">,
    InterfaceMethod<"The scales of the first matrix; null without.",
                    "::mlir::Value", "getXScale">,
    InterfaceMethod<"The metadata of a sparse first matrix; null without.",
                    "::mlir::Value", "getMetadata", (ins),
                    /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<"The second matrix, `[batch,] K, N`.", "::mlir::Value",
                    "getY">,
    InterfaceMethod<"The scales of the second matrix; null without.",
                    "::mlir::Value", "getYScale">,
    InterfaceMethod<"The accumulator, `[batch,] M, N`.",
                    "::mlir::Value", "getAcc">,
    InterfaceMethod<[{
      The operands of a grouped product that say which matrix of the second
      operand a row is multiplied by; all null for other products.
    }], "::mlir::blockscale::RowGroupOperands", "getRowGroups", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      How sums over parts of K are promoted to sums of f32; false for products
      that add up all of K in one accumulator.
    }], "::mlir::blockscale::Promotion", "getPromotion", (ins),
    /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<"Whether the operands are tensors.", "bool",
                    "hasTensorSemantics">
  ];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEINTERFACES_TD
