//===- Passes.td - Passes that select paths and schedules --*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These passes choose how an op is computed on a chip. They are in the order in
// which the pipelines for GPUs run them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTargetPass : Pass<"blockscale-attach-target", "::mlir::ModuleOp"> {
  let summary = "say which chip a module is for";
  let description = [{
    Gives the module the attribute `blockscale.target`, which the passes below
    and `convert-blockscale-to-nvvm` read. With `emulate-on`, the code runs on
    that chip, and block-scaled instructions are emulated in software
    (`blockscale-emulate-mma`).

    After `target=sm_120a emulate-on=sm_90`:

    ```mlir
    module attributes {
      blockscale.target = #blockscale.target<sm_120a, emulated_on = sm_90>} {}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "",
           "The chip, as blockscale-compile names it">,
    Option<"emulateOn", "emulate-on", "std::string", "",
           "The chip that runs the code instead">
  ];
  let dependentDialects = ["::mlir::blockscale::BlockScaleDialect"];
}

def SelectPathPass : Pass<"blockscale-select-path"> {
  let summary = "choose how a chip computes each matmul";
  let description = [{
    Gives each `mma_scaled` the attribute `blockscale.path`: `mma_sync` or
    `tcgen05` if the chip of the module's attribute `blockscale.target` has a
    block-scaled instruction for its types and block size and this version has
    the lowering, else `dequant_mma`. Ops on vectors are in kernels that users
    wrote, and get only paths whose instructions a warp executes. A remark says
    why an op falls back, and what would avoid it.

    An op that has the attribute keeps it. A path that the chip does not have is
    an error, except `mma_sync` on vectors: that instruction is emulated. With
    `decompose`, the kernel of an op on tensors uses scalar arithmetic.

    A `linalg.matmul` or `linalg.batch_matmul` on tensors in a function gets
    `wgmma` if the chip has an instruction for its types: bf16 or f16 operands
    and f32 accumulators. Indexing maps that transpose operands become
    `linalg.transpose` ops. All other matmuls have no path and become loops; an
    attribute for which the chip has no instruction is an error.

    With `accumulate=128`, each `mma_scaled` and `grouped_mma_scaled` that has no
    attribute `accumulate` gets `#blockscale.accumulate<chunk = 128>`; with
    `rebase`, too, `#blockscale.accumulate<chunk = 128, rebase>`.

    With such a licence to rebase, elements of fp6 and fp4, and those whose
    scales are for less than 128 elements along K, become fp8 with one scale for
    each row of x or column of y (`rebase`), if the chip then multiplies them by
    fp8 instructions without scales. An op that has a path is left as it is.

    Coarse scales of `mma_scaled` and `grouped_mma_scaled` have no instruction.
    Before a path is chosen, they are rewritten, with a remark: those that are
    powers of two are repeated for blocks of `block_size` elements; those of
    whole rows of both operands of `mma_scaled` multiply the result of a product
    with scales of 1; and others are factors of the sums of a `promoted_matmul`.

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

    After, with the target sm_120a:

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
    Option<"noWorkspace", "no-workspace", "bool", "false",
           "Choose no path whose kernels need memory other than arguments and "
           "results">,
    Option<"nativeOnly", "native-only", "bool", "false",
           "Refuse an op that no block-scaled instruction computes">,
    Option<"accumulate", "accumulate", "int64_t", "0",
           "Give products without the attribute accumulate one with this chunk, "
           "32, 64 or 128">,
    Option<"rebase", "rebase", "bool", "false",
           "Whether that attribute permits rebasing, too">
  ];
}

def LegalizePass : Pass<"blockscale-legalize"> {
  let summary = "legalize mma_scaled for its path";
  let description = [{
    * The attribute `blockscale.instruction`, which later passes read, names the
      instruction that computes an `mma_scaled` on its path. A remark says if
      several instructions replace one that the code generator lacks.
    * A batch of vectors becomes one op for each matrix of the batch.

    Tensors keep their batch. Sizes that are not multiples of the instruction's
    stay: kernels mask them.

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
      blockscale.instruction =
          #blockscale.instruction<mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>,
      blockscale.path = #blockscale.path<mma_sync>}
    %d = vector.insert %d0, %zero [0]
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"
  ];
}

def SelectSchedulePass : Pass<"blockscale-select-schedule"> {
  let summary = "choose the schedule of each matmul kernel";
  let description = [{
    Gives each matmul on tensors whose path has schedules the attribute
    `blockscale.schedule`: the one of the option `schedule`, else its own, else
    that of its function, else one that the pass chooses. A schedule that needs
    more shared memory or registers than the target has is an error. The option
    applies to the matmuls of a function that support it. Others keep theirs,
    with a remark; if none supports it, that is an error.

    The choice for `mma_sync`: a block has 2 x 2 warps and computes 128 x 128
    results, or fewer along a dimension that has fewer (64 or 32). If that makes
    fewer than 128 blocks, the longer side of the tile is halved, down to 64.
    Rows of the tiles have 128 bytes along K, or less if K is smaller. There are
    as many stages, up to 4, as K has steps and as fit in shared memory.

    The choice for `dequant_mma`: the same with up to 3 stages and at most 128
    bytes along K. For results of at most 64 rows or columns, blocks have 128
    along the other side, with four warps along it (for 16 rows, two), and
    split-K makes four blocks (for 64 rows, two) for each SM.

    The choice for `tcgen05`: among all schedules that the chip can run, the one
    with the smallest estimate, which `blockscale-explain-schedules` prints.

    The choice for `wgmma`: tiles of 128 x 256, or smaller ones if these fill
    the SMs better; as many stages, up to 8, as fit in shared memory.

    Before:

    ```mlir
    func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                   %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                   %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
           {blockscale.path = #blockscale.path<mma_sync>,
            blockscale.instruction = #blockscale.instruction<
                mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>}
           : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
             tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
      return %d : tensor<16x8xf32>
    }
    ```

    After, with the target sm_120a, the op has also

    ```
    blockscale.schedule =
        #blockscale.multistage_schedule<tile = [32, 32, 128], warps = [2, 2], stages = 1>
    ```
  }];
  let dependentDialects = ["::mlir::blockscale::BlockScaleDialect"];
  let options = [
    Option<"schedule", "schedule", "std::string", "",
           "The schedule of all matmuls that support it, "
           "tile=MxNxK,warps=MxN,stages=S[,split_k=N]">,
    Option<"noWorkspace", "no-workspace", "bool", "false",
           "Choose no schedule that needs memory other than arguments and "
           "results">
  ];
}

def ExplainSchedulesPass
    : Pass<"blockscale-explain-schedules", "::mlir::ModuleOp"> {
  let summary = "print why kernels have their schedules";
  let description = [{
    Prints, on standard error, for each matmul: its sizes, its schedule, the
    clocks that each unit of the chip needs at least, with the rate that they
    are computed from, and which unit is the limit. The output says which values
    are assumed for dynamic sizes, and if a rate that is not published for the
    chip is that of an older one. On the path tcgen05 it also has an estimate
    for the whole kernel and the other schedules that were considered. With
    `pictures`, it shows the layout of shared memory and of tensor memory. It
    also lists ops that become loops, which have no schedule.

    The module does not change. The pass runs after
    `blockscale-select-schedule`, or on the output of `blockscale-compile
    --emit=tile`.
  }];
  let options = [
    Option<"pictures", "pictures", "bool", "false",
           "Whether to draw shared memory and tensor memory">
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_PASSES_TD
