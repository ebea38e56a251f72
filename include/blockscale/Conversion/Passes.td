//===- Passes.td - Conversions --------------------------- -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_PASSES_TD
#define BLOCKSCALE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertBlockScaleToNVVMPass : Pass<"convert-blockscale-to-nvvm"> {
  let summary = "convert mma_sync and load_matrix to the NVVM dialect";
  let description = [{
    Rewrites `mma_sync` as `nvvm.mma.block_scale` and `load_matrix` as
    `nvvm.ldmatrix`, for a chip that has the instruction: that of the module's
    attribute `blockscale.target`. An instruction that the chip lacks is an error: neither the NVVM dialect nor the code generator
    says so before it is too late.

    Before:

    ```mlir
    gpu.module @kernels {
      gpu.func @step(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                     %sa: i32, %sb: i32, %out: memref<4xf32>) {
        %c0 = arith.constant 0 : index
        %d = blockscale.mma_sync
             <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
             %a, %b, %c, %sa[3, 1], %sb[0, 2]
        vector.store %d, %out[%c0] : memref<4xf32>, vector<4xf32>
        gpu.return
      }
    }
    ```

    After, with `blockscale.target = #blockscale.target<sm_120a>`, in short:

    ```
    %d = nvvm.mma.block_scale A[%a0, %a1, %a2, %a3] B[%b0, %b1]
         C[%c0, %c1, %c2, %c3] scaleA[%sa, %3, %1] scaleB[%sb, %0, %2] {
           blockScaleFormat = #nvvm.block_scale_format<ue8m0>,
           kind = #nvvm.block_scale_kind<mxf8f6f4>,
           multiplicandAPtxType = #nvvm.mma_type<e4m3>,
           multiplicandBPtxType = #nvvm.mma_type<e2m1>,
           scaleVecSize = #nvvm.scale_vec_size<x1>, ...}
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect"
  ];
}

#endif // BLOCKSCALE_CONVERSION_PASSES_TD
