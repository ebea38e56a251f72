//===- Passes.td - Passes to kernels -----------------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the order in which the pipelines for GPUs run them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_KERNELS_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def JoinElementwisePass
    : Pass<"blockscale-join-elementwise", "::mlir::func::FuncOp"> {
  let summary = "join elementwise ops, so that kernels can take them over";
  let description = [{
    In a function with `mma_scaled` on tensors, or with a reduction that has a
    kernel: arithmetic on tensors, elementwise and broadcasting named ops of
    linalg, such reductions, and a `linalg.fill` of an accumulator with
    something other than zero, become `linalg.generic`; those that feed one
    another become one. Transposes stay what they are, because operands are read
    through them.

    Before:

    ```mlir
    func.func @add_twice(%x: tensor<16x32xf8E4M3FN>,
                         %sx: tensor<16x1xf8E8M0FNU>,
                         %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                         %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
           : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
             tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
      %e = arith.addf %d, %c : tensor<16x8xf32>
      %f = arith.mulf %e, %c : tensor<16x8xf32>
      return %f : tensor<16x8xf32>
    }
    ```

    After, in short:

    ```
    %d = blockscale.mma_scaled ...
    %f = linalg.generic ... ins(%d, %c) outs(%empty) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %1 = arith.addf %in, %in_0 : f32
      %2 = arith.mulf %1, %in_0 : f32
      linalg.yield %2 : f32
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def FormKernelsPass : Pass<"blockscale-form-kernels", "::mlir::ModuleOp"> {
  let summary = "compute each product with a path in a GPU kernel";
  let description = [{
    Replaces each `mma_scaled` on tensors, and each product of linalg that has a
    path, by a `launch` of a kernel of its own in the `gpu.module` named
    `kernels`. Transposes, `unswizzle_scales` and `unpack` that feed an operand
    become part of the kernel's addresses, and a scale operand that is a splat
    constant becomes a constant of the kernel. An
    elementwise `linalg.generic` that makes nothing but the accumulator, or that
    is all that uses the result, becomes part of the kernel with the path
    `mma_sync`: it may broadcast other tensors along M and N and convert the
    result to another type.

    With the path `mma_sync`, the attribute `blockscale.schedule` says what a
    block computes. Tiles of the operands are copied to shared memory,
    asynchronously and some steps ahead, in the layout that suits how they are
    stored; what lies beyond the operand's sizes becomes 0 (scales that are
    padding are never used). Where the tile divides all sizes, nothing is
    compared; where sizes are dynamic, a branch that is the same for all blocks
    decides. What the verifier cannot see of sizes becomes assertions in front
    of the launch. The tiles go into a `tile_mma`. Blocks are numbered so that those
    that run at the same time share operands. With the path `decompose`, one
    thread computes one result in f64 and rounds it once. With `tcgen05` and
    `wgmma`, warps have roles: a producer fills the stages of a pipeline, MMA warps multiply.
    Operands of `wgmma` that no tensor map can be of are copied first, with a
    remark.

    A `swizzle_scales` of tensors that is left gets a kernel of its own, which
    reads and writes whole sectors of 32 bytes.

    A `linalg.generic` whose one result is a reduction along rows, long and
    contiguous ones, by an op whose order does not matter, gets a kernel in
    which a warp or a block has each row. So does a `linalg.softmax` along the
    last dimension.

    The pass has three steps. First it asserts what kernels rely on and the
    verifier cannot know of dynamic sizes, and packs fp4 elements that are
    quantized here. Then it walks over each function once, from the last op to
    the first, so that all uses of an op are known when its kernel is formed:
    the kernel takes over the elementwise op in front of a product, the one
    behind it, and the `quantize` behind that, where nothing else uses what is
    between them. Last it checks that no product with a path is left.

    Before:

    ```mlir
    func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                   %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                   %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
           {blockscale.path = #blockscale.path<mma_sync>,
            blockscale.instruction = #blockscale.instruction<
                mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>,
            blockscale.schedule = #blockscale.multistage_schedule<
                tile = [32, 32, 128], warps = [2, 2], stages = 2>}
           : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
             tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
      return %d : tensor<16x8xf32>
    }
    ```

    After, in short:

    ```
    gpu.module @kernels {
      gpu.func @mma__mma_scaled(%x, %sx, %y, %sy, %c, %d)
          workgroup(%shared) kernel {
        %acc0 = blockscale.acc_load %c[...]
        // copies of step 0 to stage 0
        %acc = scf.for %k ... iter_args(%sum = %acc0) {
          // the copies of this step are done
          gpu.barrier
          // copies of the next step to the other stage
          %next = blockscale.tile_mma %a, %a_scale, %b, %b_scale, %sum
                  types = <e4m3, e2m1, ue8m0, 32> instruction = <...>
          scf.yield %next
        }
        blockscale.acc_store %acc, %d[...]
        gpu.return
      }
    }
    %d = blockscale.launch @kernels::@mma__mma_scaled blocks = [1, 1, 1]
         threads = [128, 1, 1] ins(%x, %sx, %y, %sy, %c) outs(%empty)
    ```
  }];
  let dependentDialects = [
    "::mlir::blockscale::BlockScaleDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::nvgpu::NVGPUDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_KERNELS_PASSES_TD
