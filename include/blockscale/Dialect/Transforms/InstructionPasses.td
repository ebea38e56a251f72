//===- InstructionPasses.td - Passes in kernels ---------- -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the kernel level on, in the order in which the pipelines for GPUs run
// them; and the check of all levels. Part of Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_INSTRUCTIONPASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_INSTRUCTIONPASSES_TD

include "mlir/Pass/PassBase.td"

def ToFragmentsPass : Pass<"blockscale-to-fragments", "::mlir::gpu::GPUFuncOp"> {
  let summary = "distribute tiles and vectors to the lanes of warps";
  let description = [{
    Lowers `tile_mma` and `mma_scaled` on vectors to `mma_sync`, in a
    `gpu.func`. What a lane holds of each operand comes from the table of
    fragment layouts.

    * An accumulator (`!blockscale.acc`, or a vector of rank 2 that a warp
      shares) becomes the elements that the lane holds, one value each.
    * `tile_mma` loads its fragments with `load_matrix`, step by step along K,
      and scales as 32-bit words that serve two tiles of A or four tiles of B by
      their thread selectors, and up to four steps by their byte selectors.
      Warps are taken along x: the block is one-dimensional.
    * The bodies of `acc_generate` and `acc_for_each` are there once for each
      element.
    * `mma_scaled` on vectors takes operands that are read by
      `vector.transfer_read` from memory of bytes (or of fp8), through
      `vector.transpose`, `unswizzle_scales`, `vector.bitcast` of packed fp4, or
      `arith.trunci` and `arith.bitcast` of fp6; or splat constants. Around it
      may be `vector.transfer_read` and `transfer_write` of the accumulator,
      splat constants, elementwise arithmetic, and `scf.for` with iter_args.
    * Such operands are loaded in words where codes are side by side along K, in
      bounds along K, and known to be aligned (by `llvm.align`, the alignment of
      an allocation, `memref.assume_alignment`, and what indices are multiples
      of), else code by code. Whole fragments of bytes in workgroup memory, in
      rows that are multiples of 16 bytes, are loaded with `load_matrix`.

    All values are uniform in a warp, whose lanes reach each op together. They
    are synchronised around a `transfer_write` of a shared vector; tiles in
    workgroup attributions, and those that vectors are read from, get the
    alignment that `ldmatrix` wants.

    Before:

    ```mlir
    gpu.module @kernels {
      gpu.func @tile(%a: memref<16x32xi8>, %sa: memref<16x1xi8>,
                     %b: memref<8x32xi8>, %sb: memref<8x1xi8>,
                     %d: memref<16x8xf32>) kernel {
        %acc = blockscale.acc_zero : !blockscale.acc<16x8, 1x1>
        %c0 = arith.constant 0 : index
        blockscale.acc_store %acc, %d[%c0, %c0]
            : !blockscale.acc<16x8, 1x1>, memref<16x8xf32>
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

def EmulateMmaPass : Pass<"blockscale-emulate-mma", "::mlir::ModuleOp"> {
  let summary = "compute in software what a chip has no instruction for";
  let description = [{
    Replaces each `mma_sync` in a `gpu.module` by a call to a function that
    computes the same from the same registers and selectors: operands come from
    the other lanes by shuffles, codes are decoded exactly, and each result is
    one f64 sum that is rounded once. It runs on every chip that has warps of
    32 lanes, and needs no block-scaled instruction.

    There is one function for each instruction that the module uses. It is for
    tests and for chips without the instruction; it is not fast. Its sum starts
    with c and takes the products by ascending k; hardware may round otherwise.

    To be a judge of the lowering, it says on its own where elements and scales
    lie in the registers. It ignores the padding of fp4 and fp6 codes and the
    sign bit of ue4m3 scales.

    A `load_matrix` that the option `target` (by default, some chip) has no
    instruction for becomes shuffles of the rows' addresses and loads.

    All lanes of the warp must reach the op, as for the instruction. One
    that is not in a function of a `gpu.module` is an error.

    Before:

    ```mlir
    gpu.module @kernels {
      gpu.func @step(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                     %sa: i32, %sb: i32, %out: memref<32x4xf32>) {
        %lane = gpu.lane_id
        %c0 = arith.constant 0 : index
        %d = blockscale.mma_sync <mxf8f6f4, e4m3, e2m1, ue8m0, 1>
             %a, %b, %c, %sa[3, 1], %sb[0, 2]
        vector.store %d, %out[%lane, %c0] : memref<32x4xf32>, vector<4xf32>
        gpu.return
      }
    }
    ```

    After, in short:

    ```
    gpu.func @step(...) {
      %d = func.call @emulated_mma_sync_mxf8f6f4_e4m3_e2m1_ue8m0_1x(
           %a, %b, %c, %sa, %c3, %c1, %sb, %c0, %c2)
      ...
    }
    func.func private @emulated_mma_sync_mxf8f6f4_e4m3_e2m1_ue8m0_1x(...) {
      %sa_row = gpu.shuffle idx %sa, %lane_of_row, %c32 : i32
      ...
      %sums:4 = scf.for %word = %c0 to %c8 step %c1 iter_args(...) {
        %a_row = gpu.shuffle idx %a_word, %lane_of_word, %c32 : i32
        ...
      }
      %d0 = arith.truncf %sums#0 : f64 to f32
      ...
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
  let options = [
    Option<"target", "target", "std::string", "",
           "The chip that runs the code, as blockscale-compile names it">
  ];
}

def LowerLeftoversPass
    : Pass<"blockscale-lower-leftovers", "::mlir::gpu::GPUModuleOp"> {
  let summary = "run upstream passes on the kernels that need them";
  let description = [{
    Kernels of users, and those that became kernels from loops, may have vector
    transfers, views of memory, affine ops and arithmetic that LLVM has no
    instruction for. Where a `gpu.module` has them, this runs
    `convert-vector-to-scf`, `expand-strided-metadata`, `lower-affine` and
    `arith-expand`; each looks at every op for a long time, so that a module
    without them is better off.

    Before:

    ```mlir
    gpu.module @kernels {
      gpu.func @twice(%i: index, %m: memref<8xf32>) {
        %j = affine.apply affine_map<(i) -> (i * 2)>(%i)
        %v = memref.load %m[%j] : memref<8xf32>
        memref.store %v, %m[%i] : memref<8xf32>
        gpu.return
      }
    }
    ```

    After:

    ```mlir
    gpu.module @kernels {
      gpu.func @twice(%i: index, %m: memref<8xf32>) {
        %c2 = arith.constant 2 : index
        %j = arith.muli %i, %c2 overflow<nsw> : index
        %v = memref.load %m[%j] : memref<8xf32>
        memref.store %v, %m[%i] : memref<8xf32>
        gpu.return
      }
    }
    ```
  }];
}

def VerifyStagePass : Pass<"blockscale-verify-stage", "::mlir::ModuleOp"> {
  let summary = "check the contract of a level";
  let description = [{
    Fails, at the op, where the module is not what the level promises:

    * `tile`: each `mma_scaled` has a path, and there are no ops of lower levels
      on the host;
    * `kernel`: no `mma_scaled` on tensors, no `swizzle_scales`,
      `unswizzle_scales`, `pack`, `unpack` or `launch`; the host holds
      allocations, views, constants and launches;
    * `instr`: in kernels, of this dialect only `mma_sync`;
    * `nvvm`: in kernels, only ops of the `llvm` and `nvvm` dialects.

    It changes nothing.
  }];
  let options = [
    Option<"stage", "stage", "std::string", "", "tile, kernel, instr or nvvm">
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_INSTRUCTIONPASSES_TD
