//===- Passes.td - Passes of the blockscale dialect --------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_PASSES_TD

include "blockscale/Dialect/Transforms/InstructionPasses.td"
include "blockscale/Dialect/Transforms/KernelPasses.td"
include "mlir/Pass/PassBase.td"

def RaisePass : Pass<"blockscale-raise"> {
  let summary = "recognise block-scaled products in upstream dialects";
  let description = [{
    Rewrites contractions of decoded operands to `mma_scaled`. The contraction
    is a `linalg.generic`, `linalg.matmul`, `linalg.batch_matmul`,
    `linalg.contract` or another structured op that adds products to an f32
    accumulator, or a `vector.contract`. In its products are two matrices of
    the element types of `mma_scaled`, and their scales:

    * `arith.scaling_extf` of a matrix and its scales, or `arith.mulf` of
      `arith.extf`s in any order, on whole tensors or vectors or in a body;
    * scales repeated along K: `linalg.broadcast`, `vector.broadcast`, reshapes,
      transposes, structured ops, or an indexing map with `k floordiv 32`;
    * K as one loop, or as one over blocks and one inside of them;
    * any order of operands and of their dimensions. What is not stored as
      `mma_scaled` takes it gets a transpose or a reshape of the codes, which
      lowerings read through or which moves no data, respectively;
    * one scale that is a constant or missing: it becomes a constant.

    Ops between a code and the contraction are not matched one by one. They say
    which element is read, and the index is what is compared.

    What is meant by it:

    * Sums of contractions have no order upstream, so no fast-math flag is
      needed. `mma_scaled` adds in f64, or as an instruction does.
    * `arith.scaling_extf` is raised with `f8E8M0FNU` scales only: upstream
      rounds wider ones to that type and gives others no meaning.
    * An element times its scale is exact in f32, subnormal results included,
      except where it exceeds f32: scales of 2^113 and more for `f8E5M2`, of 2^126
      and more for fp4. There the upstream form has infinity, and may get NaN
      from it, and `mma_scaled` has the product. The product of both operands
      can likewise leave f32 for infinity or zero upstream only. A program that
      relies on that infinity should not be raised.
    * `mma_scaled` ignores the sign of `f8E4M3FN` scales, and `arith.extf` does
      not. They are raised where no scale is negative: constants, `math.absf`,
      a bit mask, or anything with `assume-positive-scales`.
    * Dynamic sizes are taken to be at least 1. K must be known to be a multiple
      of B: it is the size of blocks that were collapsed, or there are two loops.

    A contraction that has a scaled operand and is not raised gets a remark with
    the reason, and stays as it is.

    Before:

    ```mlir
    func.func @product(%x: tensor<16x64xf8E4M3FN>,
                       %x_scale: tensor<16x2xf8E8M0FNU>,
                       %y: tensor<64x8xf4E2M1FN>,
                       %y_scale: tensor<2x8xf8E8M0FNU>,
                       %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = linalg.generic {
             indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                              affine_map<(m, n, k) -> (m, k floordiv 32)>,
                              affine_map<(m, n, k) -> (k, n)>,
                              affine_map<(m, n, k) -> (k floordiv 32, n)>,
                              affine_map<(m, n, k) -> (m, n)>],
             iterator_types = ["parallel", "parallel", "reduction"]}
           ins(%x, %x_scale, %y, %y_scale
               : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
                 tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>)
           outs(%acc : tensor<16x8xf32>) {
      ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f4E2M1FN, %sb: f8E8M0FNU, %c: f32):
        %0 = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
        %1 = arith.scaling_extf %b, %sb : f4E2M1FN, f8E8M0FNU to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<16x8xf32>
      return %d : tensor<16x8xf32>
    }
    ```

    After:

    ```mlir
    func.func @product(%x: tensor<16x64xf8E4M3FN>,
                       %x_scale: tensor<16x2xf8E8M0FNU>,
                       %y: tensor<64x8xf4E2M1FN>,
                       %y_scale: tensor<2x8xf8E8M0FNU>,
                       %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
           : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
             tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
      return %d : tensor<16x8xf32>
    }
    ```
  }];
  let options = [
    Option<"assumePositiveScales", "assume-positive-scales", "bool", "false",
           "Take scales of type f8E4M3FN to be positive where that is not "
           "known">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::blockscale::BlockScaleDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def DecomposePass : Pass<"blockscale-decompose"> {
  let summary = "give the tile-level ops their meaning in upstream dialects";
  let description = [{
    Rewrites `mma_scaled`, `swizzle_scales` and `unswizzle_scales` into
    `linalg.generic` loops over plain arithmetic:

    * x times its scales and y times its scales are decoded to f64, which holds
      every product of an element and a scale exactly;
    * the products are added in f64 to the accumulator, and the sum is rounded
      once to f32. A zero splat accumulator is not loaded.

    A transpose (`linalg.transpose`, `vector.transpose`) or `unswizzle_scales`
    that feeds an operand is read through: it becomes an indexing map, not a
    copy. Vectors go through tensors, so that their code is loops too.

    Codes are decoded with integer arithmetic on `arith.bitcast`s of them,
    because upstream's expansions of these types are not exact at the ends of
    the formats. The element types stay; on the way to memory,
    `blockscale-narrow-floats-to-bytes` turns them into bytes.

    Before:

    ```mlir
    func.func @scales(%s: tensor<4x2xf8E8M0FNU>)
        -> tensor<1x1x32x16xf8E8M0FNU> {
      %t = blockscale.swizzle_scales %s
           : tensor<4x2xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
      return %t : tensor<1x1x32x16xf8E8M0FNU>
    }
    ```

    After, in short:

    ```
    %e = tensor.empty() : tensor<1x1x32x16xf8E8M0FNU>
    %t = linalg.generic ... outs(%e) {
      // %m and %k from the 32x4x4 layout
      %s_mk = tensor.extract %s[%m, %k]
      %b = arith.select %inside, %s_mk, %zero
      linalg.yield %b
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def NarrowFloatsToBytesPass
    : Pass<"blockscale-narrow-floats-to-bytes", "::mlir::ModuleOp"> {
  let summary = "store every float of at most 8 bits as one byte";
  let description = [{
    Replaces each fp8, fp6, fp4 and e8m0 element type by `i8`, in values,
    function types and constants; the code is in the low bits. Memory of fp4 or
    fp6 elements has no one layout upstream, so this runs before bufferization.

    `arith.bitcast` becomes the truncation or extension of the code, and
    `arith.extf` the exact decoding. Ops that move elements without looking at
    them keep their form. Any other op on such a type is an error: this version
    does not lower it. A `gpu.module` stays as it is.

    Before:

    ```mlir
    func.func @decode(%x: tensor<8xf4E2M1FN>, %i: index) -> i4 {
      %e = tensor.extract %x[%i] : tensor<8xf4E2M1FN>
      %c = arith.bitcast %e : f4E2M1FN to i4
      return %c : i4
    }
    ```

    After:

    ```mlir
    func.func @decode(%x: tensor<8xi8>, %i: index) -> i4 {
      %e = tensor.extract %x[%i] : tensor<8xi8>
      %c = arith.trunci %e : i8 to i4
      return %c : i4
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ProtectArgumentsPass
    : Pass<"blockscale-protect-arguments", "::mlir::func::FuncOp"> {
  let summary = "keep public functions from writing to their arguments";
  let description = [{
    Marks the tensor arguments of a public function as not writable, so that
    bufferization gives results buffers of their own. To the caller, tensors
    are values: an accumulator is the same after the call. An argument that says
    of itself whether it is writable keeps its word.

    Before:

    ```mlir
    func.func @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = linalg.map { arith.negf } ins(%x : tensor<4xf32>)
           outs(%x : tensor<4xf32>)
      return %r : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    func.func @negate(%x: tensor<4xf32> {bufferization.writable = false})
        -> tensor<4xf32> {
      %r = linalg.map { arith.negf } ins(%x : tensor<4xf32>)
           outs(%x : tensor<4xf32>)
      return %r : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def SplatsToFillsPass : Pass<"blockscale-splats-to-fills"> {
  let summary = "fill large splat constants at run time";
  let description = [{
    A splat tensor constant of more than 1024 elements becomes a `linalg.fill`:
    written out as data it would make the program as large as the tensor.

    Before:

    ```mlir
    func.func @ones() -> tensor<64x64xf32> {
      %c = arith.constant dense<1.0> : tensor<64x64xf32>
      return %c : tensor<64x64xf32>
    }
    ```

    After:

    ```mlir
    func.func @ones() -> tensor<64x64xf32> {
      %one = arith.constant 1.0 : f32
      %e = tensor.empty() : tensor<64x64xf32>
      %c = linalg.fill ins(%one : f32) outs(%e : tensor<64x64xf32>)
           -> tensor<64x64xf32>
      return %c : tensor<64x64xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def StridedCopiesToLoopsPass : Pass<"blockscale-strided-copies-to-loops"> {
  let summary = "copy memrefs that are not contiguous by loops";
  let description = [{
    A `memref.copy` between buffers with the identity layout becomes `memcpy`,
    and one of unknown rank is left as it is. Any other one
    would become a call to a run-time library that users need not have, so it
    is rewritten as a `linalg.generic`. With `all`, contiguous copies are too:
    on a GPU a copy is a kernel.

    Before:

    ```mlir
    func.func @copy(%from: memref<4x4xi8, strided<[8, 1]>>,
                    %to: memref<4x4xi8>) {
      memref.copy %from, %to
          : memref<4x4xi8, strided<[8, 1]>> to memref<4x4xi8>
      return
    }
    ```

    After, in short:

    ```
    linalg.generic ... ins(%from) outs(%to) {
    ^bb0(%in: i8, %out: i8):
      linalg.yield %in : i8
    }
    ```
  }];
  let options = [
    Option<"all", "all", "bool", "false", "Rewrite contiguous copies too">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def SwizzleScaleOperandsPass
    : Pass<"blockscale-swizzle-scale-operands", "::mlir::ModuleOp"> {
  let summary = "feed mma_scaled with scales in the 32x4x4 layout";
  let description = [{
    Instructions take scales in the 32x4x4 layout, and the lowering of an
    `mma_scaled` on tensors whose scales come from `unswizzle_scales` reads them
    there as they are. This pass swizzles row-major scales once, outside of
    loops, and lets loops take slices of what is swizzled. The scales of y are
    swizzled as their transpose.

    `unswizzle(swizzle(s))` always folds to `s`. So the pass does not swizzle in
    front of an op what would be read once anyway, and every `swizzle_scales`
    that it inserts outlives the canonicalizer. It inserts one for

    * a constant, which is swizzled here and now (up to 16 MiB; its padding is
      any byte). `canonicalize` does not turn it back while an `mma_scaled`
      reads it;
    * what a loop takes slices of, in front of the outermost loop that does not
      make it. An offset of rows is known to be a multiple of 128 and one of
      blocks along K of 4; a slice may end anywhere. A remark says which slice
      cuts an atom;
    * with `change-signature`, arguments of functions, see below.

    Whole scales that a loop reads without slicing them stay row-major, and so
    do scales that a loop carries in its iter_args.

    Of swizzles that there are already:

    * `swizzle(slice(s))` becomes `slice(swizzle(s))` if the slice also ends
      with an atom or where `s` ends (both known), and the loop around it does
      not make `s`; `slice(unswizzle(t))` becomes `unswizzle(slice(t))`. Slices
      have strides of 1 and keep a batch or drop it;
    * `swizzle(unswizzle(t))` of whole atoms is `t`, through transposes and
      slices too;
    * swizzles of what a loop does not change leave the loop.

    Equal swizzles are left to `cse`. Graph regions stay as they are.

    Swizzles are inserted, and arguments changed, only for an `mma_scaled` that
    becomes an instruction: one whose path is not `decompose`, or, where no path
    was selected, one that `target` has an instruction for. Without `target`,
    that is every op.

    Before:

    ```mlir
    func.func @tiled(%x: tensor<256x128xf8E4M3FN>,
                     %x_scale: tensor<256x4xf8E8M0FNU>,
                     %y: tensor<128x64xf8E5M2>,
                     %acc: tensor<256x64xf32>) -> tensor<256x64xf32> {
      %y_scale = arith.constant dense<2.0> : tensor<4x64xf8E8M0FNU>
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %c256 = arith.constant 256 : index
      %d = scf.for %m = %c0 to %c256 step %c128 iter_args(%sum = %acc)
          -> (tensor<256x64xf32>) {
        %x_m = tensor.extract_slice %x[%m, 0] [128, 128] [1, 1]
               : tensor<256x128xf8E4M3FN> to tensor<128x128xf8E4M3FN>
        %x_scale_m = tensor.extract_slice %x_scale[%m, 0] [128, 4] [1, 1]
                     : tensor<256x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
        %sum_m = tensor.extract_slice %sum[%m, 0] [128, 64] [1, 1]
                 : tensor<256x64xf32> to tensor<128x64xf32>
        %d_m = blockscale.mma_scaled %x_m, %x_scale_m, %y, %y_scale, %sum_m
               : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
                 tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>,
                 tensor<128x64xf32>
        %next = tensor.insert_slice %d_m into %sum[%m, 0] [128, 64] [1, 1]
                : tensor<128x64xf32> into tensor<256x64xf32>
        scf.yield %next : tensor<256x64xf32>
      }
      return %d : tensor<256x64xf32>
    }
    ```

    After, in short:

    ```
    %y_scale = arith.constant dense<2.0> : tensor<1x1x32x16xf8E8M0FNU>
    %x_scale_t = blockscale.swizzle_scales %x_scale
    %d = scf.for %m = %c0 to %c256 step %c128 iter_args(%sum = %acc) {
      %atom = affine.apply affine_map<(m) -> (m floordiv 128)>(%m)
      %x_scale_mt = tensor.extract_slice
          %x_scale_t[%atom, 0, 0, 0] [1, 1, 32, 16] [1, 1, 1, 1]
      %x_scale_m = blockscale.unswizzle_scales %x_scale_mt
      %y_scale_nk = blockscale.unswizzle_scales %y_scale
      %y_scale_kn = linalg.transpose ins(%y_scale_nk) permutation = [1, 0]
      %d_m = blockscale.mma_scaled %x_m, %x_scale_m, %y, %y_scale_kn, %sum_m
      ...
    }
    ```

    **`change-signature`.** An argument `tensor<[B x] M x K_s>` (or K_s x M)
    of static sizes that serves only as scales of `mma_scaled`, directly or
    through transposes, slices that keep atoms whole, swizzles, and arguments of
    other functions of the module that change, becomes one of
    `[B x] ceil(M / 128) x ceil(K_s / 4) x 32 x 16`. The argument attribute
    `blockscale.swizzled` tells callers: it is the type of the scales that they
    must swizzle, rows first. Padding may hold any byte. Calls in the module
    are changed too: they pass on swizzled scales that they have, or get a
    `swizzle_scales`. (A callee that is inlined afterwards folds it.) A remark says why other arguments with scales stay: they
    have another use, rows in both dimensions, dynamic sizes, or a function that
    is referred to by something else than `func.call`. Results stay.

    Before:

    ```mlir
    func.func @mma(%x: tensor<300x288xf8E4M3FN>,
                   %x_scale: tensor<300x9xf8E8M0FNU>,
                   %y: tensor<288x64xf8E5M2>,
                   %y_scale: tensor<9x64xf8E8M0FNU>,
                   %acc: tensor<300x64xf32>) -> tensor<300x64xf32> {
      %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
           : tensor<300x288xf8E4M3FN>, tensor<300x9xf8E8M0FNU>,
             tensor<288x64xf8E5M2>, tensor<9x64xf8E8M0FNU>, tensor<300x64xf32>
      return %d : tensor<300x64xf32>
    }
    ```

    After, with `change-signature`:

    ```mlir
    func.func @mma(
        %x: tensor<300x288xf8E4M3FN>,
        %x_scale_t: tensor<3x3x32x16xf8E8M0FNU>
            {blockscale.swizzled = tensor<300x9xf8E8M0FNU>},
        %y: tensor<288x64xf8E5M2>,
        %y_scale_t: tensor<1x3x32x16xf8E8M0FNU>
            {blockscale.swizzled = tensor<64x9xf8E8M0FNU>},
        %acc: tensor<300x64xf32>) -> tensor<300x64xf32> {
      %y_scale_nk = blockscale.unswizzle_scales %y_scale_t
                    : tensor<1x3x32x16xf8E8M0FNU> to tensor<64x9xf8E8M0FNU>
      %init = tensor.empty() : tensor<9x64xf8E8M0FNU>
      %y_scale = linalg.transpose ins(%y_scale_nk : tensor<64x9xf8E8M0FNU>)
                 outs(%init : tensor<9x64xf8E8M0FNU>) permutation = [1, 0]
      %x_scale = blockscale.unswizzle_scales %x_scale_t
                 : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
      %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
           : tensor<300x288xf8E4M3FN>, tensor<300x9xf8E8M0FNU>,
             tensor<288x64xf8E5M2>, tensor<9x64xf8E8M0FNU>, tensor<300x64xf32>
      return %d : tensor<300x64xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::blockscale::BlockScaleDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"target", "target", "std::string", "",
           "The chip, as blockscale-compile names it; if not given, one that "
           "wants swizzled scales">,
    Option<"changeSignature", "change-signature", "bool", "false",
           "Let functions take swizzled scales">
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_PASSES_TD
