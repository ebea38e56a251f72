//===- BlockScaleTileTypes.td - Operands of the tile level -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALETILETYPES_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALETILETYPES_TD

include "mlir/IR/OpBase.td"

//===----------------------------------------------------------------------===//
// Matrices, scales and accumulators
//===----------------------------------------------------------------------===//

// See TileTypes.h.
class BlockScale_Tile<string tile, string summary> : Type<
    CPred<"::mlir::blockscale::isTileType("
          "::mlir::blockscale::TileType::" # tile # ", $_self)">, summary>;

def BlockScale_Matrix : BlockScale_Tile<"Matrix",
    "tensor or vector of fp8, fp6 or fp4, of rank 2 or 3">;
def BlockScale_Scales : BlockScale_Tile<"Scales",
    "tensor or vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3">;
def BlockScale_ProductScales : BlockScale_Tile<"ProductScales",
    "tensor or vector of f8E8M0FNU, f8E4M3FN or f32, of rank 2 or 3">;
def BlockScale_SwizzledScales : BlockScale_Tile<"SwizzledScales",
    "tensor or vector of f8E8M0FNU or f8E4M3FN, of rank 4 or 5">;
def BlockScale_Accumulator : BlockScale_Tile<"Accumulator",
    "tensor or vector of f32, of rank 2 or 3">;

// Errors about types name the operand.
def BlockScale_HasTileTypes : NativeOpTrait<"HasTileTypes">,
                              StructuralOpTrait {
  let cppNamespace = "::mlir::blockscale";
}

//===----------------------------------------------------------------------===//
// Values of any rank with blocks along the last dimension
//===----------------------------------------------------------------------===//

class BlockScale_Blocks<list<Type> elements, string summary> : Type<
    And<[CPred<"::mlir::blockscale::isTensorOrFixedVector($_self)">,
         HasRankGreaterOrEqualPred<1>,
         SubstLeaves<"$_self", "::mlir::getElementTypeOrSelf($_self)",
                     AnyTypeOf<elements>.predicate>]>,
    "ranked tensor or fixed-length vector of " # summary #
    ", of rank 1 or more", "::mlir::ShapedType">;

def BlockScale_HighPrecision
    : BlockScale_Blocks<[F32, F16, BF16], "f32, f16 or bf16">;
def BlockScale_QuantizedElements
    : BlockScale_Blocks<[F8E4M3FN, F8E5M2, F6E3M2FN, F6E2M3FN, F4E2M1FN],
                        "f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN">;
def BlockScale_BlockScales
    : BlockScale_Blocks<[F8E8M0FNU, F8E4M3FN, F32],
                        "f8E8M0FNU, f8E4M3FN or f32">;
// Not a buildable type, so that it is written out.
def BlockScale_TensorScale : AnyTypeOf<[F32]>;
def BlockScale_LargestMagnitude : AnyTypeOf<[0DTensorOf<[F32]>, F32]>;

def BlockScale_Metadata : BlockScale_Blocks<[I8], "i8">;

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALETILETYPES_TD
