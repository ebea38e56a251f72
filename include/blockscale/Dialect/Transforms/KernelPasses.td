//===- KernelPasses.td - Passes to kernels --------------- -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the order in which the pipelines for GPUs run them. Part of Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_KERNELPASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_KERNELPASSES_TD

include "mlir/Pass/PassBase.td"

def SelectPathPass : Pass<"blockscale-select-path"> {
  let summary = "choose how a chip computes each mma_scaled";
  let description = [{
    Gives each `mma_scaled` the attribute `blockscale.path`: `mma_sync` or
    `tcgen05` where the chip has a block-scaled instruction for its types and
    block size and this version has the lowering, `decompose` elsewhere. A
    remark says why an op falls back, and what would not.

    Before:

    ```mlir
    func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                   %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                   %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
           : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
             tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
      return %d : tensor<16x8xf32>
    }
    ```

    After, with `target=sm_120a`:

    ```mlir
    func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                   %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                   %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
             tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
      return %d : tensor<16x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::blockscale::BlockScaleDialect"];
  let options = [
    Option<"target", "target", "std::string", "",
           "The chip, as blockscale-compile names it">,
    Option<"nativeOnly", "native-only", "bool", "false",
           "Refuse an op that no block-scaled instruction computes">
  ];
}

def LegalizePass : Pass<"blockscale-legalize"> {
  let summary = "bring mma_scaled into the forms that its path takes";
  let description = [{
    * The instruction of each `mma_scaled` whose path is `mma_sync` is named by
      the attribute `blockscale.instruction`, for the reader (later passes find
      it in the same table); where several instructions stand
      in for one that the code generator lacks, a remark says so.
    * A batch of vectors becomes one op for each matrix of the batch.

    Tensors keep their batch, and all keep sizes that are no multiples of the
    instruction's: kernels mask them.

    Before:

    ```mlir
    func.func @mma(%x: vector<1x16x64xf4E2M1FN>, %sx: vector<1x16x2xf8E8M0FNU>,
                   %y: vector<64x8xf4E2M1FN>, %sy: vector<2x8xf8E8M0FNU>,
                   %c: vector<1x16x8xf32>) -> vector<1x16x8xf32> {
      %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<1x16x64xf4E2M1FN>, vector<1x16x2xf8E8M0FNU>,
             vector<64x8xf4E2M1FN>, vector<2x8xf8E8M0FNU>, vector<1x16x8xf32>
      return %d : vector<1x16x8xf32>
    }
    ```

    After, in short:

    ```
    %x0 = vector.extract %x[0]
    %sx0 = vector.extract %sx[0]
    %c0 = vector.extract %c[0]
    %d0 = blockscale.mma_scaled %x0, %sx0, %y, %sy, %c0 {
      blockscale.instruction = #blockscale.instruction<mxf4, e2m1, e2m1, ue8m0, 2>,
      blockscale.path = #blockscale.path<mma_sync>}
    %d = vector.insert %d0, %zero [0]
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"
  ];
}

def SelectSchedulePass : Pass<"blockscale-select-schedule"> {
  let summary = "choose how the kernel of each mma_scaled divides it";
  let description = [{
    Gives each `mma_scaled` on tensors whose path is `mma_sync` the attribute
    `blockscale.schedule`: the one of the option `schedule`, else its own, else
    that of its function, else one that is chosen. A schedule that the target
    has not enough shared memory or registers for is an error.

    The choice: a block has 2 x 2 warps and computes 128 x 128 results, or fewer
    along a dimension that has fewer (64 or 32); where that makes fewer than 128
    blocks, the longer side of the tile is halved, down to 64. Rows of the tiles
    have 128 bytes along K, or less where K ends before. There are as many
    stages, up to 4, as K has steps and shared memory has room for.

    Before:

    ```mlir
    func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                   %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                   %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
             tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
      return %d : tensor<16x8xf32>
    }
    ```

    After, with `target=sm_120a`, the op has also

    ```
    blockscale.schedule =
        #blockscale.schedule<tile = [32, 32, 128], warps = [2, 2], stages = 1>
    ```
  }];
  let dependentDialects = ["::mlir::blockscale::BlockScaleDialect"];
  let options = [
    Option<"target", "target", "std::string", "",
           "The chip, as blockscale-compile names it">,
    Option<"schedule", "schedule", "std::string", "",
           "The schedule of all ops, tile=MxNxK,warps=MxN,stages=S">
  ];
}

def PackBuffersPass : Pass<"blockscale-pack-buffers", "::mlir::ModuleOp"> {
  let summary = "give arguments and results the bytes of GPU buffers";
  let description = [{
    Arguments and results of public functions become what GPU buffers hold: fp4
    two per byte along the last dimension, and fp6 four in three bytes where the
    argument has the attribute `blockscale.packed`. Other types have a byte or
    more of their own and stay.

    Before:

    ```mlir
    func.func @same(%x: tensor<3x32xf4E2M1FN>) -> tensor<3x32xf4E2M1FN> {
      return %x : tensor<3x32xf4E2M1FN>
    }
    ```

    After:

    ```mlir
    func.func @same(%bytes: tensor<3x16xi8>) -> tensor<3x16xi8> {
      %x = blockscale.unpack %bytes : tensor<3x16xi8> to tensor<3x32xf4E2M1FN>
      %r = blockscale.pack %x : tensor<3x32xf4E2M1FN> to tensor<3x16xi8>
      return %r : tensor<3x16xi8>
    }
    ```
  }];
  let dependentDialects = ["::mlir::blockscale::BlockScaleDialect"];
}

def JoinElementwisePass
    : Pass<"blockscale-join-elementwise", "::mlir::func::FuncOp"> {
  let summary = "join elementwise ops, so that kernels can take them over";
  let description = [{
    In a function with `mma_scaled` on tensors: arithmetic on tensors,
    elementwise and broadcasting named ops of linalg, and a `linalg.fill` of an
    accumulator with something other than zero, become `linalg.generic`; those
    that feed one another become one. Transposes stay what they are, because
    operands are read through them.

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
  let summary = "compute each mma_scaled on tensors in a GPU kernel";
  let description = [{
    Replaces each `mma_scaled` on tensors by a `launch` of a kernel of its own
    in the `gpu.module` named `kernels`. Transposes, `unswizzle_scales` and
    `unpack` that feed an operand become part of the kernel's addresses, and a
    scale operand that is a splat constant becomes a constant of the kernel. An
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
    thread computes one result in f64 and rounds it once.

    A `swizzle_scales` of tensors that is left gets a kernel of its own, which
    reads and writes whole sectors of 32 bytes.

    Before:

    ```mlir
    func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                   %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                   %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
           {blockscale.path = #blockscale.path<mma_sync>,
            blockscale.schedule = #blockscale.schedule<
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
                  row = <e4m3, e2m1, ue8m0, 32>
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
    "::mlir::memref::MemRefDialect", "::mlir::nvgpu::NVGPUDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def SeparateResultsPass
    : Pass<"blockscale-separate-results", "::mlir::func::FuncOp"> {
  let summary = "return each buffer once";
  let description = [{
    A buffer that a function returns twice is copied for the second result:
    each result is memory of its own. A result of dynamic sizes gets the
    attribute `blockscale.sizes`, see `blockscale-collect-kernels`; sizes that
    are not made of those of the arguments are an error.

    Before:

    ```mlir
    func.func @twice() -> (memref<4xf32>, memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      return %a, %a : memref<4xf32>, memref<4xf32>
    }
    ```

    After:

    ```mlir
    func.func @twice() -> (memref<4xf32>, memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      %b = memref.alloc() : memref<4xf32>
      memref.copy %a, %b : memref<4xf32> to memref<4xf32>
      return %a, %b : memref<4xf32>, memref<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def FlattenParallelLoopsPass
    : Pass<"blockscale-flatten-parallel-loops", "::mlir::func::FuncOp"> {
  let summary = "make parallel loops one loop over blocks of threads";
  let description = [{
    Collapses each outermost `scf.parallel` into one dimension and tiles that by
    256 iterations, mapped to the threads of a block along x. The limits of a
    grid along y and z do not matter then.

    Before:

    ```mlir
    func.func @copy(%from: memref<30x20xf32>, %to: memref<30x20xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c20 = arith.constant 20 : index
      %c30 = arith.constant 30 : index
      scf.parallel (%i, %j) = (%c0, %c0) to (%c30, %c20) step (%c1, %c1) {
        %v = memref.load %from[%i, %j] : memref<30x20xf32>
        memref.store %v, %to[%i, %j] : memref<30x20xf32>
        scf.reduce
      }
      return
    }
    ```

    After, in short:

    ```
    scf.parallel (%block) = (%c0) to (%c600) step (%c256) {
      scf.parallel (%thread) = (%c0) to (%size) step (%c1) {
        ...
      } {mapping = [#gpu.loop_dim_map<processor = thread_x, ...>]}
    } {mapping = [#gpu.loop_dim_map<processor = block_x, ...>]}
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"
  ];
}

def CollectKernelsPass
    : Pass<"blockscale-collect-kernels", "::mlir::ModuleOp"> {
  let summary = "one module of kernels, named and with parameters for launch";
  let description = [{
    The last step of the kernel level. Functions on the host hold allocations
    and launches only, and:

    * all kernels are in the `gpu.module` named `kernels`;
    * the first kernel of an `mma_scaled` has the name of its function (where
      there is none, the last kernel has), any other one is `FUNCTION__WHAT`;
    * a kernel's parameters are whole buffers: views of them and constants have
      moved into the kernel;
    * the kernel with the name of the function has all its arguments and then
      its results as parameters, whether or not it uses them, then all dynamic
      sizes of the arguments, as `i32`; after these come allocations. Buffers of
      dynamic sizes are passed as memrefs of rank 0 and become what they are in
      the kernel;
    * assertions of the host, about sizes, are at the start of the first kernel.

    Two attributes of arguments say what types do not. `blockscale.sizes` is an
    affine map of the dynamic sizes (by argument, then by dimension) to those of
    the argument, which is memory for a result. `blockscale.code_bits` are the
    bits of a code where rows are packed and of a dynamic size: the parameter
    counts codes, the memref bytes.

    Anything else on the host is an error: it would have to run between kernels.

    Before:

    ```mlir
    module attributes {gpu.container_module} {
      func.func @f(%x: memref<8xf32>, %unused: memref<4xf32>,
                   %r: memref<8xf32>) {
        %c1 = arith.constant 1 : index
        gpu.launch_func @kernels::@f_kernel blocks in (%c1, %c1, %c1)
            threads in (%c1, %c1, %c1)
            args(%r : memref<8xf32>, %x : memref<8xf32>)
        return
      }
      gpu.module @kernels {
        gpu.func @f_kernel(%r: memref<8xf32>, %x: memref<8xf32>) kernel {
          gpu.return
        }
      }
    }
    ```

    After:

    ```mlir
    module attributes {gpu.container_module} {
      func.func @f(%x: memref<8xf32>, %unused: memref<4xf32>,
                   %r: memref<8xf32>) {
        %c1 = arith.constant 1 : index
        gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1)
            threads in (%c1, %c1, %c1)
            args(%x : memref<8xf32>, %unused : memref<4xf32>,
                 %r : memref<8xf32>)
        return
      }
      gpu.module @kernels {
        gpu.func @f(%x: memref<8xf32>, %unused: memref<4xf32>,
                    %r: memref<8xf32>) kernel {
          gpu.return
        }
      }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_KERNELPASSES_TD
