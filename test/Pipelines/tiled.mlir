// Tiled programs compute what untiled ones do. The scales are such that all
// sums are exact, so that the order in which K is added does not matter; they
// differ from block to block, so that a wrong one is noticed.

// RUN: rm -rf %t && mkdir %t
// RUN: blockscale-run %s --seed=1 > %t/untiled
// RUN: FileCheck %s --check-prefix=NUMBERS --input-file=%t/untiled
// NUMBERS: {{^\[\[\[.*[1-9].*\]\]\]$}}

// Sizes that do not divide.
// RUN: blockscale-opt %s --transform-interpreter="entry-point=tile_for" -o %t/for.mlir
// RUN: FileCheck %s --check-prefix=FOR --input-file=%t/for.mlir
// FOR-LABEL:   func.func @main
// FOR-COUNT-4:   scf.for
// FOR:           blockscale.mma_scaled {{.*}} {block_size = 32 : i64}
// RUN: blockscale-run %t/for.mlir --seed=1 > %t/for
// RUN: diff %t/untiled %t/for

// RUN: blockscale-opt %s --transform-interpreter="entry-point=tile_forall" -o %t/forall.mlir
// RUN: FileCheck %s --check-prefix=FORALL --input-file=%t/forall.mlir
// FORALL-LABEL: func.func @main
// FORALL:         scf.forall
// FORALL:           blockscale.mma_scaled
// RUN: blockscale-run %t/forall.mlir --seed=1 > %t/forall
// RUN: diff %t/untiled %t/forall

// RUN: blockscale-opt %s --transform-interpreter="entry-point=tile_twice" -o %t/twice.mlir
// RUN: FileCheck %s --check-prefix=TWICE --input-file=%t/twice.mlir
// TWICE-LABEL:   func.func @main
// TWICE-COUNT-5:   scf.for
// TWICE:           blockscale.mma_scaled
// RUN: blockscale-run %t/twice.mlir --seed=1 > %t/twice
// RUN: diff %t/untiled %t/twice

// With other data the output is another one.
// RUN: blockscale-run %t/for.mlir --seed=2 > %t/other
// RUN: not diff %t/untiled %t/other

module attributes {transform.with_named_sequence} {
  func.func @main(%x: tensor<7x96xf4E2M1FN>, %y: tensor<3x96x5xf4E2M1FN>,
                  %acc: tensor<3x7x5xf32>) -> tensor<3x7x5xf32> {
    %x_scale = arith.constant dense<[
      [1.0, 2.0, 0.5], [2.0, 0.5, 1.0], [0.5, 1.0, 2.0], [1.0, 0.5, 2.0],
      [2.0, 2.0, 1.0], [0.5, 0.5, 2.0], [1.0, 1.0, 0.5]
    ]> : tensor<7x3xf8E8M0FNU>
    %y_scale = arith.constant dense<[
      [[1.0, 2.0, 0.5, 1.0, 2.0], [2.0, 0.5, 1.0, 2.0, 0.5],
       [0.5, 1.0, 2.0, 2.0, 1.0]],
      [[2.0, 1.0, 0.5, 2.0, 1.0], [1.0, 1.0, 2.0, 0.5, 0.5],
       [2.0, 0.5, 1.0, 1.0, 2.0]],
      [[0.5, 0.5, 1.0, 0.5, 2.0], [2.0, 2.0, 0.5, 1.0, 1.0],
       [1.0, 2.0, 2.0, 2.0, 0.5]]
    ]> : tensor<3x3x5xf8E8M0FNU>
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<7x96xf4E2M1FN>, tensor<7x3xf8E8M0FNU>,
           tensor<3x96x5xf4E2M1FN>, tensor<3x3x5xf8E8M0FNU>,
           tensor<3x7x5xf32>
    return %d : tensor<3x7x5xf32>
  }

  transform.named_sequence @tile_for(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loops:4 = transform.structured.tile_using_for %op
        tile_sizes [2, 3, 2, 64]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op, !transform.any_op,
                                  !transform.any_op)
    transform.yield
  }

  transform.named_sequence @tile_forall(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op
        tile_sizes [0, 3, 2]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }

  transform.named_sequence @tile_twice(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %outer, %outer_loops:3 = transform.structured.tile_using_for %op
        tile_sizes [0, 5, 3, 64]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op, !transform.any_op)
    %inner, %inner_loops:2 = transform.structured.tile_using_for %outer
        tile_sizes [0, 2, 0, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op)
    transform.yield
  }
}
