//===- BlockScaleRoutingOps.td - Rows to groups ------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What comes before grouped products in a mixture of experts: which groups a
// row goes to, and rows sorted by group. Declarations of these ops have a header
// of their own (Routing.h).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEROUTINGOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEROUTINGOPS_TD

include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/RuntimeVerifiableOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Sizes that do not fit fail at run time, so the ops are never speculated.
class BlockScale_RoutingOp<string mnemonic>
    : BlockScale_TileOp<mnemonic, [
    NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>,
    DeclareOpInterfaceMethods<RuntimeVerifiableOpInterface>]> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// route
//===----------------------------------------------------------------------===//

def BlockScale_RouteOp : BlockScale_RoutingOp<"route"> {
  let summary = "the best groups of each row, and their weights";
  let description = [{
    | value     | shape  | element type     |
    |-----------|--------|------------------|
    | `logits`  | `S, G` | f32, bf16 or f16 |
    | `ids`     | `S, J` | `i32`            |
    | `weights` | `S, J` | `f32`            |

    `ids[s, :]` are the groups with the J largest logits of row s, the largest
    first; of equal ones, the lower number comes first. +0 and -0 are equal, and
    NaN is larger than all numbers, and equal to NaN. J is `top_k`.

    With l = `logits[s, :]`, extended to f32, and c = `ids[s, :]`, the weights
    are, by `scoring`:

    | `scoring`           | `weights[s, j]`                                    |
    |---------------------|----------------------------------------------------|
    | `logits`            | l[c[j]]                                            |
    | `softmax`           | exp(l[c[j]] - l[c[0]]) / the sum of that for all G |
    | `softmax_of_chosen` | the same over the sum for the J chosen ones        |

    They are of f32. `softmax_of_chosen` is also what a softmax over all groups
    becomes if the weights of chosen ones are divided by their sum.

    Constraints:

    * (O1) All are ranked tensors without encoding, of the shapes of the table.
    * (O2) `ids` and `weights` have the S of `logits`.
    * (O3) J, the second size of `ids` and of `weights`, is `top_k`: at least 1,
      at most 32, and at most G.

    Example:

    ```mlir
    func.func @route(%logits: tensor<?x128xbf16>)
        -> (tensor<?x4xi32>, tensor<?x4xf32>) {
      %ids, %weights = blockscale.route %logits {
          top_k = 4 : i64, scoring = #blockscale.scoring<softmax_of_chosen>}
          : tensor<?x128xbf16> to tensor<?x4xi32>, tensor<?x4xf32>
      return %ids, %weights : tensor<?x4xi32>, tensor<?x4xf32>
    }
    ```
  }];

  let arguments = (ins
    TensorRankOf<[F32, BF16, F16], [2]>:$logits, I64Attr:$top_k,
    BlockScale_ScoringAttr:$scoring);
  let results = (outs TensorRankOf<[I32], [2]>:$ids,
                      TensorRankOf<[F32], [2]>:$weights);
  let assemblyFormat = [{
    $logits attr-dict `:` type($logits) `to` type($ids) `,` type($weights)
  }];
  let extraClassDeclaration = [{
    /// (O3)
    static constexpr int64_t kMostChosen = 32;
  }];
}

//===----------------------------------------------------------------------===//
// sort_routes
//===----------------------------------------------------------------------===//

def BlockScale_SortRoutesOp : BlockScale_RoutingOp<"sort_routes"> {
  let summary = "the slots of all rows, sorted by group";
  let description = [{
    Each of S rows has J slots, with the numbers of the groups that the row goes
    to. The slots are numbered along rows, T = S * J in all, and sorted by group;
    those of one group stay in order. That is what a grouped product and
    `combine_rows` need:

    | value       | shape  | element type | is                                   |
    |-------------|--------|--------------|--------------------------------------|
    | `ids`       | `S, J` | i32 or i64   | the group of each slot               |
    | `groups`    |        | index        | G                                    |
    | `offsets`   | `G`    | `i32`        | the inclusive ends of the groups     |
    | `rows`      | `T`    | `i32`        | the row of each sorted slot          |
    | `positions` | `S, J` | `i32`        | where each slot is among sorted ones |

    A slot whose number is not from 0 to G - 1 is nobody's: its position is -1.
    There are as many rows of -1 behind the last group.

    Constraints:

    * (O4) All but `groups` are ranked tensors without encoding, of the shapes of
      the table.
    * (O5) `positions` has the S and J of `ids`, `offsets` as many elements as
      there are groups, and `rows` S times J.
    * (O6) G is at least 1 and at most 2048, J at least 1, and T below 2^31.

    Example:

    ```mlir
    func.func @sort(%ids: tensor<?x4xi32>)
        -> (tensor<128xi32>, tensor<?xi32>, tensor<?x4xi32>) {
      %groups = arith.constant 128 : index
      %offsets, %rows, %positions = blockscale.sort_routes %ids, %groups
          : tensor<?x4xi32> to tensor<128xi32>, tensor<?xi32>, tensor<?x4xi32>
      return %offsets, %rows, %positions
          : tensor<128xi32>, tensor<?xi32>, tensor<?x4xi32>
    }
    ```
  }];

  let arguments = (ins TensorRankOf<[I32, I64], [2]>:$ids, Index:$groups);
  let results = (outs TensorRankOf<[I32], [1]>:$offsets,
                      TensorRankOf<[I32], [1]>:$rows,
                      TensorRankOf<[I32], [2]>:$positions);
  let assemblyFormat = [{
    $ids `,` $groups attr-dict `:` type($ids) `to` type($offsets) `,`
    type($rows) `,` type($positions)
  }];
  let extraClassDeclaration = [{
    /// (O6)
    static constexpr int64_t kMostGroups = 2048;
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEROUTINGOPS_TD
