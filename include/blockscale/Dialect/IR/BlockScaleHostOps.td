//===- BlockScaleHostOps.td - Memory and launches -------- -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Between the tile level and kernels: how tensors are stored in GPU buffers,
// and launches of kernels on them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEHOSTOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEHOSTOPS_TD

include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar BlockScale_PackedTypes = [F6E3M2FN, F6E2M3FN, F4E2M1FN];

class BlockScale_PackingOp<string mnemonic>
    : BlockScale_Op<mnemonic, [Pure,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
          "reifyResultShapes"]>]> {
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
}

def BlockScale_UnpackOp : BlockScale_PackingOp<"unpack"> {
  let summary = "read elements out of a packed buffer";
  let description = [{
    The elements of a buffer in which each row, along the last dimension, is a
    little-endian bit stream of codes: two fp4 codes in a byte, the even one in
    the low nibble; four fp6 codes in three bytes.

    Constraint (K1): the shapes are equal but for the last size, which is that
    of the elements times their bits by 8, without remainder. Sizes that are
    dynamic are so in both.

    Example:

    ```mlir
    func.func @unpack(%bytes: tensor<3x16xi8>) -> tensor<3x32xf4E2M1FN> {
      %x = blockscale.unpack %bytes : tensor<3x16xi8> to tensor<3x32xf4E2M1FN>
      return %x : tensor<3x32xf4E2M1FN>
    }
    ```
  }];
  let arguments = (ins RankedTensorOf<[I8]>:$source);
  let results = (outs RankedTensorOf<BlockScale_PackedTypes>:$result);
}

def BlockScale_PackOp : BlockScale_PackingOp<"pack"> {
  let summary = "write elements as a packed buffer";
  let description = [{
    The reverse of `unpack`, with the same constraint (K1).
  }];
  let arguments = (ins RankedTensorOf<BlockScale_PackedTypes>:$source);
  let results = (outs RankedTensorOf<[I8]>:$result);
}

def BlockScale_LaunchOp : BlockScale_Op<"launch", [
    DestinationStyleOpInterface, AttrSizedOperandSegments]> {
  let summary = "launch a kernel on tensors";
  let description = [{
    Runs a kernel that reads `inputs` and writes `outputs` whole. The kernel
    takes one memref for each tensor, in order, with the identity layout and
    bytes for elements of at most 8 bits, and scalars as they are. Bufferization turns the op into
    `gpu.launch_func`.

    `blocks` are constants or values of type `index`. `shared` is the dynamic
    shared memory of a block, in bytes.

    Constraint (L1): `blocks` and `threads` are three positive sizes each, there
    is an operand for each size of `blocks` that is no constant, and `shared` is
    not negative.
  }];
  let arguments = (ins
    SymbolRefAttr:$kernel,
    Variadic<Index>:$dynamicBlocks, DenseI64ArrayAttr:$staticBlocks,
    DenseI64ArrayAttr:$threads, DefaultValuedAttr<I64Attr, "0">:$shared,
    Variadic<AnyTypeOf<[AnyRankedTensor, AnySignlessIntegerOrIndex, AnyFloat]>>
        :$inputs,
    Variadic<AnyRankedTensor>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel `blocks` `=` custom<DynamicIndexList>($dynamicBlocks, $staticBlocks)
    `threads` `=` $threads
    (`shared` `=` $shared^)? `ins` `(` ($inputs^ `:` type($inputs))? `)`
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict
    `->` type($results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }

    /// The numbers of blocks, constants and values.
    SmallVector<OpFoldResult> getBlocks();
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEHOSTOPS_TD
