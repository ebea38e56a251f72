//===- Passes.td - Emulation of instructions in software ---*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_EMULATION_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_EMULATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmulateMmaPass : Pass<"blockscale-emulate-mma", "::mlir::ModuleOp"> {
  let summary = "emulate warp-level instructions that a chip lacks";
  let description = [{
    Replaces instructions that the chip that runs the code lacks. That chip is
    the one of the module's attribute `blockscale.target` or, with
    `emulated_on`, the other one. With `emulated_on`, and without the attribute,
    every block-scaled instruction is replaced. After the pass, the target is
    the chip that runs the code.

    A `mma_sync` or `mma_sp` in a `gpu.module` becomes a call to a function that
    computes the same result from the same registers and selectors. The function gets
    operands of other lanes by shuffles and decodes elements exactly; each
    result is one f64 sum that is rounded once. It runs on every chip with warps
    of 32 lanes.

    There is one function for each instruction that the module uses. It is for
    tests and for chips without the instruction; it is not fast. Its sum starts
    with c and adds the products by ascending k; hardware may round otherwise.

    The function has its own description of where elements and scales are in
    registers, so that it can test the lowering independently. It ignores the
    padding of fp4 and fp6 elements and the sign bit of ue4m3 scales.

    A `load_matrix` that the chip has no instruction for becomes shuffles of the
    rows' addresses and loads. (Without a chip, one that some chip lacks.)

    All lanes of the warp must reach the op, as for the instruction. An op that
    is not in a function of a `gpu.module` is an error.

    Before:

    ```mlir
    gpu.module @kernels {
      gpu.func @step(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                     %sa: i32, %sb: i32, %out: memref<32x4xf32>) {
        %lane = gpu.lane_id
        %c0 = arith.constant 0 : index
        %d = blockscale.mma_sync
             <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
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
}

def EmulateTcgen05Pass : Pass<"blockscale-emulate-tcgen05", "::mlir::ModuleOp"> {
  let summary = "emulate tcgen05 on a chip without tensor memory";
  let description = [{
    If the module's attribute `blockscale.target` has `emulated_on`, the pass
    replaces tcgen05 ops of the NVVM dialect in each `gpu.module`, and the
    target becomes the other chip. Everything else stays: bulk copies,
    mbarriers, warps and their roles.

    * Tensor memory is a variable in global memory with slots for 128 blocks, of
      128 lanes of 512 columns each. `alloc` waits until a slot is free, whatever
      the grid is, and `dealloc` frees it. An address has the index of the slot
      above its lane.
    * `mma` with block scales and `cp` (32x128b.warpx4) are calls of functions
      that read the operands of the instruction: both matrix descriptors, the
      instruction descriptor, and addresses. If elect.sync chooses the thread
      that executes them, all lanes of its warp share the work. Sums of products
      are computed in f64 (of each block, times its scales, then of the blocks,
      then D), and are rounded once, when D is written.
    * `commit` is a fence and an arrival: earlier instructions are complete.
    * `ld` and `st` (32x32b and 16x256b) are loads and stores; waits and fences
      of tcgen05 are fences of the block.

    The functions have their own description of where elements, scales and sums
    are, and share no layout table with the lowering that they test. They check
    the fields of descriptors at run time.

    Pairs of CTAs and other shapes are errors.

    Before:

    ```mlir
    module attributes {
        blockscale.target = #blockscale.target<sm_100a, emulated_on = sm_90a>} {
      gpu.module @kernels {
        gpu.func @copy(%address: !llvm.ptr<6>, %descriptor: i64) {
          %elected = nvvm.elect.sync -> i1
          scf.if %elected {
            nvvm.tcgen05.cp %address, %descriptor
                {multicast = #nvvm.tcgen05_cp_multicast<warpx4>,
                 shape = #nvvm.tcgen05_cp_shape<shape_32x128b>}
          }
          gpu.return
        }
      }
    }
    ```

    After, in short:

    ```
    %elected = nvvm.elect.sync -> i1
    %ballot = nvvm.vote.sync ballot %all, %elected -> i32
    %leader = llvm.intr.cttz(%ballot)
    ...
    nvvm.bar.warp.sync %all
    func.call @emulated_tcgen05_cp_32x128b(%address_of_leader,
                                           %descriptor_of_leader, %lane, %c32)
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, ...}
    nvvm.bar.warp.sync %all
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_EMULATION_PASSES_TD
