//===- Passes.td - Passes of asynchronous kernels ----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_ASYNC_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_ASYNC_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerAsyncPass : Pass<"blockscale-lower-async", "::mlir::gpu::GPUFuncOp"> {
  let summary = "lower roles of warps and asynchronous tile products";
  let description = [{
    In a `gpu.func`, `roles` becomes branches on the warp index, which a shuffle
    makes uniform, and `async_tile_mma` becomes a sequence of
    `matrix_descriptor` and `tcgen05_mma` along K.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @roles(%out: memref<2xi32>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %word = arith.constant 7 : i32
        blockscale.roles warps = [1, 3] {
          memref.store %word, %out[%c0] : memref<2xi32>
        }, {
          memref.store %word, %out[%c1] : memref<2xi32>
        }
        gpu.return
      }
    }
    ```

    becomes

    ```
    scf.if %is_warp_0 {
      memref.store %word, %out[%c0] : memref<2xi32>
    } else {
      scf.if %is_below_warp_4 {
        memref.store %word, %out[%c1] : memref<2xi32>
      }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect"];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_ASYNC_PASSES_TD
