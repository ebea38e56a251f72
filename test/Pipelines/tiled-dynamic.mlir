// The tiles of dynamic sizes, with a batch that is 1 or that of the result.

// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/../Tools/Inputs/save.py %t/x.npy "random.RandomState(1).randint(0, 16, (1, 7, 48)).astype('u1')" %t/x_scale.npy "random.RandomState(2).randint(126, 129, (1, 7, 3)).astype('u1')" %t/y.npy "random.RandomState(3).randint(0, 16, (3, 48, 5)).astype('u1')" %t/y_scale.npy "random.RandomState(4).randint(126, 129, (3, 3, 5)).astype('u1')" %t/acc.npy "arange(105, dtype='f4').reshape(3, 7, 5)"
// DEFINE: %{data} = %t/x.npy %t/x_scale.npy %t/y.npy %t/y_scale.npy %t/acc.npy

// RUN: blockscale-run %s %{data} > %t/untiled
// RUN: blockscale-opt %s --transform-interpreter -o %t/tiled.mlir
// RUN: FileCheck %s --input-file=%t/tiled.mlir
// CHECK-LABEL:   func.func @main
// CHECK-COUNT-4:   scf.for
// CHECK:           blockscale.mma_scaled
// RUN: blockscale-run %t/tiled.mlir %{data} > %t/tiled
// RUN: diff %t/untiled %t/tiled
// RUN: count 1 < %t/tiled

module attributes {transform.with_named_sequence} {
  func.func @main(%x: tensor<?x?x?xf4E2M1FN>, %x_scale: tensor<?x?x?xf8E8M0FNU>,
                  %y: tensor<?x?x?xf4E2M1FN>, %y_scale: tensor<?x?x?xf8E8M0FNU>,
                  %acc: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {block_size = 16}
         : tensor<?x?x?xf4E2M1FN>, tensor<?x?x?xf8E8M0FNU>,
           tensor<?x?x?xf4E2M1FN>, tensor<?x?x?xf8E8M0FNU>,
           tensor<?x?x?xf32>
    return %d : tensor<?x?x?xf32>
  }

  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loops:4 = transform.structured.tile_using_for %op
        tile_sizes [2, 3, 2, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op, !transform.any_op,
                                  !transform.any_op)
    transform.yield
  }
}
