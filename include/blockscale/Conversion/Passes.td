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
  let summary = "convert the instruction level to the NVVM dialect";
  let description = [{
    Rewrites `mma_sync` as `nvvm.mma.block_scale`, `load_matrix` as
    `nvvm.ldmatrix` and ops of tcgen05 as those of NVVM, for the chip of the
    module's attribute `blockscale.target`. An instruction that the chip lacks
    is an error here, because the NVVM dialect and the code generator report it
    too late or not at all.

    `nvvm.griddepcontrol wait` becomes inline assembly that clobbers memory,
    because the intrinsic of LLVM 22 does not.

    Values of tensor memory become addresses, an `i32` each. Memory that
    descriptors describe is aligned to 8 swizzle rows.

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
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect"
  ];
}

def ConvertKernelsToNVVMPass
    : Pass<"blockscale-convert-kernels-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "convert kernels to the LLVM and NVVM dialects";
  let description = [{
    The conversion of upstream's `convert-gpu-to-nvvm` with
    `use-bare-ptr-memref-call-conv` and `has-redux`, behind `convert-scf-to-cf`.
    Blocks stay as they are: upstream's pass merges those with equal ops, which
    takes hours for some kernels of a few hundred blocks.
  }];
  let dependentDialects = [
    "::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect"
  ];
}

def AttachNVVMTargetPass : Pass<"blockscale-attach-nvvm-target"> {
  let summary = "attach the chip's target to kernels";
  let description = [{
    Gives each `gpu.module` the target of the module's attribute
    `blockscale.target`, as `nvvm-attach-target` does. Where there are ops of
    tcgen05, the target has `verifyTarget = false`, because the NVVM dialect
    would refuse them on chips that have them. This pass checks all ops instead;
    one that the chip does not have is an error.

    Before:

    ```mlir
    module attributes {blockscale.target = #blockscale.target<sm_103a>} {
      gpu.module @kernels {
        llvm.func @fence() {
          nvvm.tcgen05.fence #nvvm.tcgen05_fence<before>
          llvm.return
        }
      }
    }
    ```

    After, with `ptx-version=88`, in short:

    ```
    gpu.module @kernels [#nvvm.target<chip = "sm_103a", features = "+ptx88",
                                      verifyTarget = false>]
    ```
  }];
  let options = [
    Option<"ptxVersion", "ptx-version", "unsigned", "0",
           "PTX version, 87 for 8.7; that of the code generator if not given">
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

#endif // BLOCKSCALE_CONVERSION_PASSES_TD
