//===- Passes.td - Passes in kernels -----------------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_FRAGMENTS_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_FRAGMENTS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ToFragmentsPass : Pass<"blockscale-to-fragments", "::mlir::gpu::GPUFuncOp"> {
  let summary = "distribute tiles and vectors to the lanes of warps";
  let description = [{
    Lowers `tile_mma` and `mma_scaled` on vectors to `mma_sync`, in a
    `gpu.func`. A table of fragment layouts says which elements of an operand a
    lane holds.

    * An accumulator (`!blockscale.acc`, or a vector of rank 2 that a warp
      shares) becomes the elements that the lane holds, one value each.
    * `tile_mma` loads its fragments with `load_matrix`, step by step along K.
      It loads scales as 32-bit words: with different thread selectors a word
      serves two tiles of A or four tiles of B, and with different byte
      selectors up to four steps. Warps are counted along x: the block is
      one-dimensional.
    * The bodies of `acc_generate` and `acc_for_each` are copied for each
      element.
    * Operands of `mma_scaled` on vectors are splat constants, or are read by
      `vector.transfer_read` from memory of bytes (or of fp8), through
      `vector.transpose`, `unswizzle_scales`, `vector.bitcast` of packed fp4, or
      `arith.trunci` and `arith.bitcast` of fp6. Other ops on its accumulator
      may be `vector.transfer_read` and `transfer_write`, splat constants,
      elementwise arithmetic, and `scf.for` with iter_args.
    * Such operands are loaded as 32-bit words if elements are contiguous along
      K, in bounds along K, and known to be aligned (by `llvm.align`, the
      alignment of an allocation, `memref.assume_alignment`, and known multiples
      of indices); else element by element. Whole fragments of bytes in
      workgroup memory, in rows that are multiples of 16 bytes, are loaded with
      `load_matrix`.

    All values are uniform in a warp, whose lanes reach each op together. Warps
    are synchronised around a `transfer_write` of a shared vector. Tiles in
    workgroup attributions, and those that vectors are read from, get the
    alignment that `ldmatrix` needs.

    Before:

    ```mlir
    gpu.module @kernels {
      gpu.func @tile(%a: memref<16x32xi8>, %sa: memref<16x1xi8>,
                     %b: memref<8x32xi8>, %sb: memref<8x1xi8>,
                     %d: memref<16x8xf32>) kernel {
        %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
        %c0 = arith.constant 0 : index
        blockscale.acc_store %acc, %d[%c0, %c0]
            : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
        gpu.return
      }
    }
    ```

    After, in short:

    ```
    %lane = gpu.lane_id
    %acc = arith.constant 0.0 : f32
    // for each of the four elements
    %row = arith.divui %lane, %c4 : index
    %pair = arith.remui %lane, %c4 : index
    %column = arith.muli %pair, %c2 : index
    scf.if %inside {
      memref.store %element, %d[%row, %column]
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::nvgpu::NVGPUDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_FRAGMENTS_PASSES_TD
