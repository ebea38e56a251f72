//===- BlockScaleHostOps.td - Memory and launches ----------*- tablegen -*-===//
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

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar BlockScale_PackedTypes = [F6E3M2FN, F6E2M3FN, F4E2M1FN];

class BlockScale_PackingOp<string mnemonic>
    : BlockScale_TileOp<mnemonic, [Pure,
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

def BlockScale_ResultSizesOp : BlockScale_HostOp<"result_sizes"> {
  let summary = "how large a result is";
  let description = [{
    Results of a function for a GPU become memory that the caller gives, which
    does not tell how large it is: this op says so, of an allocation that
    becomes such an argument. The sizes are computed from those of the other
    arguments, and from those that are integers.

    Constraint (Z1): there is a size for each dynamic one of the memory.

    Example:

    ```mlir
    func.func @sum(%x: memref<?x4xf32>, %result: memref<?x4xf32>) {
      %c0 = arith.constant 0 : index
      %m = memref.dim %x, %c0 : memref<?x4xf32>
      blockscale.result_sizes %result sizes(%m) : memref<?x4xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$buffer, Variadic<Index>:$sizes);
  let assemblyFormat = [{
    $buffer `sizes` `(` $sizes `)` attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def BlockScale_SmCountOp
    : BlockScale_HostOp<"sm_count", [Pure]> {
  let summary = "the number of SMs of the card";
  let description = [{
    What the numbers of blocks of a launch may be limited by, such as those of
    kernels whose blocks take one tile after the other. It is not known before
    the launch, and has no place in kernels.

    Example:

    ```mlir
    func.func @blocks(%tiles: index) -> index {
      %n = blockscale.sm_count
      %r = arith.minui %tiles, %n : index
      return %r : index
    }
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def BlockScale_TensorMapOp : BlockScale_HostOp<"tensor_map", [Pure]> {
  let summary = "a tensor map of memory";
  let description = [{
    What a `launch` with tensor maps becomes: an operand of `gpu.launch_func`.
    The kernel's parameter is the 128 bytes of the map, by value.

    Constraint (M1): the memory has as many dimensions as the map has symbols.

    Constraint (M2): where the sizes of the memory are known, the tensor of the
    map is inside of it, and its sizes and strides are such that the CUDA driver
    takes them.

    Example:

    ```mlir
    func.func @map(%x: memref<?x128xi8>) -> !llvm.ptr {
      %map = blockscale.tensor_map %x : memref<?x128xi8>
             with #blockscale.tensor_map<
                 "u1", sizes = affine_map<()[m, k] -> (m, k)>,
                 strides = affine_map<()[m, k] -> (k)>, box = [64, 128],
                 element_strides = [1, 1], swizzle = "128", fill = "zero",
                 l2 = "none">
      return %map : !llvm.ptr
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, BlockScale_TensorMapAttr:$map);
  let results = (outs LLVM_DefaultPointer:$result);
  let assemblyFormat = "$source `:` type($source) `with` $map attr-dict";
  let hasVerifier = 1;
}

def BlockScale_LaunchOp : BlockScale_TileOp<"launch", [
    DestinationStyleOpInterface, AttrSizedOperandSegments]> {
  let summary = "launch a kernel on tensors";
  let description = [{
    Runs a kernel that reads `inputs` and writes `outputs` whole or, with
    `updates`, parts of what they are. The kernel takes one memref for each
    tensor, in order, with the identity layout and bytes for elements of at most
    8 bits, and scalars as they are; then one `!llvm.ptr` for each of
    `tensor_maps`. Bufferization turns the op into `gpu.launch_func`.

    `blocks` are constants or values of type `index`. `shared` is the dynamic
    shared memory of a block, in bytes. `cluster` are the blocks of a cluster,
    which divide those of the grid.

    `tensor_maps` are of the memory of tensors, those numbers `mapped` among
    inputs and outputs. Their symbols are the sizes of that memory.

    Constraint (L1): `blocks` and `threads` are three positive sizes each, there
    is an operand for each size of `blocks` that is no constant, and `shared` is
    not negative.

    Constraint (L2): `cluster` are three positive sizes, which divide those of
    `blocks` that are constants.

    Constraint (L3): there is a number in `mapped` for each tensor map, of a
    tensor of as many dimensions as the map has symbols.

    Constraint (L4): a map of a tensor of floats of at most 8 bits, which memory
    holds in bytes of their own, is one of elements of whole bytes and of one
    code each. Where the sizes of a tensor are known, that of the map is inside
    of its memory.

    Example, of a launch that is limited by the card:

    ```mlir
    func.func @persistent(%x: tensor<?x128xf8E4M3FN>, %tiles: index)
        -> tensor<4xf32> {
      %most = blockscale.sm_count
      %blocks = arith.minui %tiles, %most : index
      %e = tensor.empty() : tensor<4xf32>
      %r = blockscale.launch @kernels::@k blocks = [%blocks, 1, 1]
           threads = [128, 1, 1] shared = 65536
           tensor_maps = [#blockscale.tensor_map<
               "u1", sizes = affine_map<()[m, k] -> (m, k)>,
               strides = affine_map<()[m, k] -> (k)>, box = [64, 128],
               element_strides = [1, 1], swizzle = "128", fill = "zero",
               l2 = "128">] of [0]
           ins(%x : tensor<?x128xf8E4M3FN>) outs(%e : tensor<4xf32>)
           -> tensor<4xf32>
      return %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins
    SymbolRefAttr:$kernel,
    Variadic<Index>:$dynamicBlocks, DenseI64ArrayAttr:$staticBlocks,
    DenseI64ArrayAttr:$threads, DefaultValuedAttr<I64Attr, "0">:$shared,
    OptionalAttr<DenseI64ArrayAttr>:$cluster,
    OptionalAttr<TypedArrayAttrBase<BlockScale_TensorMapAttr,
                                    "tensor maps">>:$tensorMaps,
    OptionalAttr<DenseI64ArrayAttr>:$mapped,
    Variadic<AnyTypeOf<[AnyRankedTensor, AnySignlessIntegerOrIndex, AnyFloat]>>
        :$inputs,
    Variadic<AnyRankedTensor>:$outputs, UnitAttr:$updates);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel `blocks` `=` custom<DynamicIndexList>($dynamicBlocks, $staticBlocks)
    `threads` `=` $threads
    (`shared` `=` $shared^)? (`cluster` `=` $cluster^)?
    (`tensor_maps` `=` $tensorMaps^ `of` $mapped)? `ins` `(` ($inputs^ `:` type($inputs))? `)`
    (`updates` $updates^)? `outs` `(` $outputs `:` type($outputs) `)` attr-dict
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
