//===- Passes.td - Passes to instructions in software ------*- tablegen -*-===//
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
  let summary = "compute in software what a chip has no instruction for";
  let description = [{
    Replaces instructions that the chip lacks, which runs the code: the one of
    the module's attribute `blockscale.target` or, with `emulated_on`, that one.
    Then, and without the attribute, every block-scaled instruction is replaced.
    From there on, the target is the chip that runs the code.

    A `mma_sync` in a `gpu.module` becomes a call to a function that computes the same from the same registers and selectors: operands come from
    the other lanes by shuffles, codes are decoded exactly, and each result is
    one f64 sum that is rounded once. It runs on every chip that has warps of
    32 lanes, and needs no block-scaled instruction.

    There is one function for each instruction that the module uses. It is for
    tests and for chips without the instruction; it is not fast. Its sum starts
    with c and takes the products by ascending k; hardware may round otherwise.

    To be a judge of the lowering, it says on its own where elements and scales
    lie in the registers. It ignores the padding of fp4 and fp6 codes and the
    sign bit of ue4m3 scales.

    A `load_matrix` that the chip (by default, some chip) has no instruction for
    becomes shuffles of the rows' addresses and loads.

    All lanes of the warp must reach the op, as for the instruction. One
    that is not in a function of a `gpu.module` is an error.

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
  let summary = "compute in software what tensor cores with a memory do";
  let description = [{
    Where the module's attribute `blockscale.target` has `emulated_on`, ops of
    the NVVM dialect of tcgen05 are replaced in each `gpu.module`, and the target
    is the other chip from there on. All else stays as it is: bulk copies,
    mbarriers, warps and their roles.

    * Tensor memory is a variable in global memory with room for 128 blocks,
      128 lanes of 512 columns each. `alloc` waits until there is room, whatever
      the grid is, and `dealloc` gives it back. An address has the number of the
      room above its lane.
    * `mma` with block scales and `cp` (32x128b.warpx4) are calls of functions
      that read the words which the instruction gets: both descriptors, the
      instruction descriptor, and addresses. Where elect.sync chooses the thread
      that executes them, all lanes of its warp share the work. Sums of products
      are exact as far as an f64 holds them (each block's, times its scales, then
      those of blocks, then D), and are rounded once, when D is written.
    * `commit` is a fence and an arrival: what was asked for is done by then.
    * `ld` and `st` (32x32b and 16x256b) are loads and stores, waits and fences of
      tcgen05 are fences of the block.

    The functions say on their own where elements, scales and sums are, and share
    no table of layouts with the lowering that they judge. They check at run time
    what fields may hold.

    Pairs of blocks and other shapes are errors.

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
