//===- BlockScaleHostOps.td - Memory and launches ----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Ops between the tile level and kernels: tensors in packed GPU buffers, and
// launches of kernels on them.
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
    little-endian bit stream of elements: two of fp4 in a byte, the even one in
    the low nibble; four of fp6 in three bytes.

    Constraint (K1): the shapes are equal except for the last size. A row has
    the bytes of its elements, a whole number of them. A size is dynamic in both
    shapes or in none.

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
  let summary = "the dynamic sizes of a result";
  let description = [{
    A function for a GPU writes its results to buffers that the caller passes.
    Such a buffer does not carry its sizes; this op states them, for an
    allocation that becomes such an argument. They are computed from sizes of
    the other arguments, and from integer arguments.

    Constraint (Z1): there is one size for each dynamic size of the memory.

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
    A launch may limit its number of blocks by it: persistent kernels need at
    most one block for each SM. It is known only at the launch, and cannot be
    used in kernels.

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
    A tensor map of a `launch`, as an operand of `gpu.launch_func`. The kernel's
    parameter is the 128 bytes of the map, by value.

    Constraint (M1): the memory has as many dimensions as the map has symbols.

    Constraint (M2): if the sizes of the memory are static, the tensor of the
    map is inside of it, and the CUDA driver accepts its sizes and strides.

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
    Runs a kernel that reads `inputs` and overwrites all of `outputs`, or with
    `updates` only parts of them. Of an output that another launch has made, it
    always overwrites only parts. The kernel has one memref parameter for each
    tensor, in order, with the identity layout and a byte for each element of at
    most 8 bits. Scalars are passed as they are. After these comes one
    `!llvm.ptr` for each of `tensor_maps`. Bufferization turns the op into
    `gpu.launch_func`.

    `blocks` are constants or values of type `index`. `shared` is the dynamic
    shared memory of a block, in bytes. `cluster` is the size of a cluster in
    blocks, which divides the grid.

    `tensor_maps` describe the memory of tensors; `mapped` has the position of
    each of these tensors among inputs and outputs. Symbols of a map are the
    sizes of that memory.

    Constraint (L1): `blocks` and `threads` have three positive sizes each,
    there is an operand for each size of `blocks` that is not constant, and
    `shared` is not negative.

    Constraint (L2): `cluster` has three positive sizes, which divide the
    constant sizes of `blocks`.

    Constraint (L3): `mapped` has an entry for each tensor map, and that tensor
    has as many dimensions as the map has symbols.

    Constraint (L4): floats of at most 8 bits have a byte each in memory, so the
    elements of their map are whole bytes that hold one float. If the sizes of a
    tensor are static, the tensor of its map is inside of its memory.

    Example of a launch with at most one block for each SM:

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

    /// The size of the grid in blocks, constants and values.
    SmallVector<OpFoldResult> getBlocks();

    /// The i1 under which it has blocks, which are `arith.select` of some and
    /// 0; null for always.
    Value getCondition();
    void setCondition(OpBuilder &builder, Value condition);
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEHOSTOPS_TD
