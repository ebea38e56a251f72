//===- Passes.td - Passes that choose ----------------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How an op is computed on a chip; in the order in which the pipelines for GPUs
// run them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTargetPass : Pass<"blockscale-attach-target", "::mlir::ModuleOp"> {
  let summary = "say which chip a module is for";
  let description = [{
    Gives the module the attribute `blockscale.target`, which the passes below
    and `convert-blockscale-to-nvvm` read. With `emulate-on`, code is made for
    that chip, and block-scaled instructions become software
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
  let summary = "choose how a chip computes each product";
  let description = [{
    Gives each `mma_scaled` the attribute `blockscale.path`: `mma_sync` or
    `tcgen05` where the chip of the module's attribute `blockscale.target` has a
    block-scaled instruction for its types and block size and this version has
    the lowering, `dequant_mma` elsewhere. Vectors are in kernels of others and take
    paths whose instructions are those of a warp. A remark says why an op falls
    back, and what would not.

    An op that has the attribute keeps it; one that the chip does not have is an
    error, but for vectors with `mma_sync`: then the instruction is software.
    With `decompose`, the kernel of tensors is plain arithmetic.

    A `linalg.matmul` or `linalg.batch_matmul` on tensors in a function gets
    `wgmma` where the chip has an instruction for its types: bf16 or f16
    operands, f32 sums. Indexing maps that transpose operands become
    `linalg.transpose` in front. All others have no path, and become loops; with
    an attribute that the chip has no instruction for, an error.

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
           "Take no path whose kernels need memory beside arguments and "
           "results">,
    Option<"nativeOnly", "native-only", "bool", "false",
           "Refuse an op that no block-scaled instruction computes">
  ];
}

def LegalizePass : Pass<"blockscale-legalize"> {
  let summary = "bring mma_scaled into the forms that its path takes";
  let description = [{
    * The instruction that computes an `mma_scaled` on its path is named by the
      attribute `blockscale.instruction`, which later passes read; where several
      instructions stand in for one that the code generator lacks, a remark says
      so.
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
  let summary = "choose how the kernel of each mma_scaled divides it";
  let description = [{
    Gives each product on tensors whose path has schedules the attribute
    `blockscale.schedule`: the one of the option `schedule`, else its own, else
    that of its function, else one that is chosen. A schedule that the target
    has not enough shared memory or registers for is an error. The option is for
    the products of a function that can take it: others keep theirs, with a
    remark, and where none can, that is an error.

    The choice for `mma_sync`: a block has 2 x 2 warps and computes 128 x 128 results, or fewer
    along a dimension that has fewer (64 or 32); where that makes fewer than 128
    blocks, the longer side of the tile is halved, down to 64. Rows of the tiles
    have 128 bytes along K, or less where K ends before. There are as many
    stages, up to 4, as K has steps and shared memory has room for.

    The choice for `dequant_mma`: the same with up to 3 stages and at most 128 bytes
    along K; for results of at most 64 rows or columns, blocks of 128 along the
    other side with four warps along it (for 16 rows, two), and K in as many
    parts as make four blocks (of 64 rows, two) for each SM.

    The choice for `tcgen05`: of all schedules that the chip can run the one
    with the smallest estimate, which `blockscale-explain-schedules` prints.

    The choice for `wgmma`: tiles of 128 x 256, or smaller ones where these fill
    the SMs better; as many stages, up to 8, as shared memory has
    room for.

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
           "The schedule of all products that can take it, "
           "tile=MxNxK,warps=MxN,stages=S[,split_k=N]">,
    Option<"noWorkspace", "no-workspace", "bool", "false",
           "Choose no schedule that needs memory beside arguments and results">
  ];
}

def ExplainSchedulesPass
    : Pass<"blockscale-explain-schedules", "::mlir::ModuleOp"> {
  let summary = "print why kernels have their schedules";
  let description = [{
    Prints, on standard error, for each product: its sizes, its schedule, the
    clocks that each unit of the chip needs at least, with the rate that they
    are computed of, and which unit is the limit. What dynamic sizes count as
    in these numbers is said. A rate that is not published
    for the chip is that of an older one, which is said. On the path tcgen05
    there is an estimate for the whole, too, and the other schedules that there
    were to choose from; with `pictures`, what is where in shared memory and in
    tensor memory. Loops have no schedule, which is said.

    The module stays as it is. Behind `blockscale-select-schedule`, or on what
    `blockscale-compile --emit=tile` prints.
  }];
  let options = [
    Option<"pictures", "pictures", "bool", "false",
           "Whether to draw shared memory and tensor memory">
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_PASSES_TD
