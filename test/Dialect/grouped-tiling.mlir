// Tiling of grouped products with the transform dialect: a tile of rows has offsets of its own, and all groups of y.

// RUN: blockscale-opt %s --transform-interpreter --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[O:[a-z0-9]+]]: tensor<3xi32>
// CHECK:         scf.for %[[T:.*]] = %c0 to %c32 step %c16
// CHECK:           scf.for %[[K:.*]] = %c0 to %c256 step %c128
// CHECK-DAG:         tensor.extract_slice %{{.*}}[%[[T]], %[[K]]] [16, 128] [1, 1] : tensor<32x256xf8E4M3FN>
// CHECK-DAG:         tensor.extract_slice %{{.*}}[0, %[[K]], 0] [3, 128, 8] [1, 1, 1] : tensor<3x256x8xf8E5M2>
// CHECK-DAG:         %[[FIRST:.*]] = arith.minsi %[[T]], %c2147483647 : index
// CHECK-DAG:         %[[WORD:.*]] = arith.index_cast %[[FIRST]] : index to i32
// CHECK-DAG:         %[[START:.*]] = tensor.splat %[[WORD]] : tensor<3xi32>
// CHECK-DAG:         %[[LATER:.*]] = arith.maxsi %[[O]], %[[START]]
// CHECK-DAG:         %[[SHIFTED:.*]] = arith.subi %[[LATER]], %[[START]]
// CHECK-DAG:         %[[OFFSETS:.*]] = arith.minsi %[[SHIFTED]]
// CHECK:             blockscale.grouped_mma_scaled %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[OFFSETS]], %{{.*}} {block_size = 32 : i64, some.attribute}
module attributes {transform.with_named_sequence} {
  func.func @product(%o: tensor<3xi32>, %x: tensor<32x256xf8E4M3FN>, %xs: tensor<32x8xf8E8M0FNU>,
                     %y: tensor<3x256x8xf8E5M2>, %ys: tensor<3x8x8xf8E8M0FNU>, %acc: tensor<32x8xf32>) -> tensor<32x8xf32> {
    %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {some.attribute}
        : tensor<32x256xf8E4M3FN>, tensor<32x8xf8E8M0FNU>, tensor<3x256x8xf8E5M2>, tensor<3x8x8xf8E8M0FNU>, tensor<3xi32>, tensor<32x8xf32>
    return %d : tensor<32x8xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.grouped_mma_scaled"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 0, 128]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Rows that no offset reaches.

// CHECK-LABEL: func.func @many_rows(
// CHECK:         scf.for %[[T:.*]] = %c0 to %c4294967296 step %c2147483648
// CHECK:           %[[FIRST:.*]] = arith.minsi %[[T]], %c2147483647 : index
// CHECK:           arith.index_cast %[[FIRST]] : index to i32
// CHECK:           %[[SHIFTED:.*]] = arith.subi %{{.*}}, %{{.*}} : tensor<3xi32>
// CHECK:           blockscale.grouped_matmul %{{.*}}, %{{.*}}, %[[SHIFTED]],
module attributes {transform.with_named_sequence} {
  func.func @many_rows(%x: tensor<4294967296x256xbf16>, %y: tensor<3x256x8xbf16>, %o: tensor<3xi32>,
                       %acc: tensor<4294967296x8xf32>) -> tensor<4294967296x8xf32> {
    %d = blockscale.grouped_matmul %x, %y, %o, %acc
        : tensor<4294967296x256xbf16>, tensor<3x256x8xbf16>, tensor<3xi32>, tensor<4294967296x8xf32>
    return %d : tensor<4294967296x8xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.grouped_matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops = transform.structured.tile_using_for %op tile_sizes [2147483648, 0, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Rows are sliced, and those of x are not.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x256xbf16>
// CHECK:         scf.for %[[T:.*]] = %c0 to %{{.*}} step %c16
// CHECK:           scf.for %[[N:.*]] = %c0 to %c8 step %c4
// CHECK-DAG:         %[[ALL:.*]] = tensor.extract_slice %[[X]][0, 0] [%{{.*}}, 256] [1, 1] : tensor<?x256xbf16>
// CHECK-DAG:         %[[ROWS:.*]] = tensor.extract_slice %{{.*}}[%[[T]]] [%{{.*}}] [1] : tensor<?xi32>
// CHECK-DAG:         %[[BIAS:.*]] = tensor.extract_slice %{{.*}}[0, %[[N]]] [3, 4] [1, 1] : tensor<3x8xf32>
// CHECK:             blockscale.grouped_matmul %[[ALL]], %{{.*}} rows(%[[ROWS]] : tensor<?xi32>) group_scale(%{{.*}} : tensor<3xf32>) bias(%[[BIAS]] : tensor<3x4xf32>)
module attributes {transform.with_named_sequence} {
  func.func @rows(%x: tensor<?x256xbf16>, %y: tensor<3x256x8xbf16>, %o: tensor<3xi32>, %acc: tensor<?x8xf32>,
                  %r: tensor<?xi32>, %g: tensor<3xf32>, %b: tensor<3x8xf32>) -> tensor<?x8xf32> {
    %d = blockscale.grouped_matmul %x, %y, %o, %acc rows(%r : tensor<?xi32>) group_scale(%g : tensor<3xf32>) bias(%b : tensor<3x8xf32>)
        : tensor<?x256xbf16>, tensor<3x256x8xbf16>, tensor<3xi32>, tensor<?x8xf32>
    return %d : tensor<?x8xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.grouped_matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 4, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @cut(%x: tensor<32x256xf8E4M3FN>, %xs: tensor<32x8xf8E8M0FNU>, %y: tensor<3x256x8xf8E5M2>,
                 %ys: tensor<3x8x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<32x8xf32>) -> tensor<32x8xf32> {
    // expected-error @+3 {{expected the offset and the size of a tile along K to be multiples of the block size, 32}}
    // expected-error @+2 {{tile operation}}
    // expected-error @+1 {{failed to generate tiling loops}}
    %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc
        : tensor<32x256xf8E4M3FN>, tensor<32x8xf8E8M0FNU>, tensor<3x256x8xf8E5M2>, tensor<3x8x8xf8E8M0FNU>, tensor<3xi32>, tensor<32x8xf32>
    return %d : tensor<32x8xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.grouped_mma_scaled"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops = transform.structured.tile_using_for %op tile_sizes [0, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @bias_of_parts(%x: tensor<32x256xbf16>, %y: tensor<3x256x8xbf16>, %o: tensor<3xi32>, %acc: tensor<32x8xf32>,
                           %b: tensor<3x8xf32>) -> tensor<32x8xf32> {
    // expected-error @+3 {{expected a tile of all of K with a group_scale or a bias}}
    // expected-error @+2 {{tile operation}}
    // expected-error @+1 {{failed to generate tiling loops}}
    %d = blockscale.grouped_matmul %x, %y, %o, %acc bias(%b : tensor<3x8xf32>)
        : tensor<32x256xbf16>, tensor<3x256x8xbf16>, tensor<3xi32>, tensor<32x8xf32>
    return %d : tensor<32x8xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.grouped_matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops = transform.structured.tile_using_for %op tile_sizes [0, 0, 128]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @combine(
// CHECK:         scf.for %[[S:.*]] = %c0 to %c32 step %c16
// CHECK:           scf.for %[[N:.*]] = %c0 to %c64 step %c8
// CHECK-DAG:         %[[SOURCE:.*]] = tensor.extract_slice %{{.*}}[0, %[[N]]] [6, 8] [1, 1] : tensor<6x64xf32>
// CHECK-DAG:         %[[POSITIONS:.*]] = tensor.extract_slice %{{.*}}[%[[S]], 0] [16, 4] [1, 1] : tensor<32x4xi32>
// CHECK-DAG:         %[[WEIGHTS:.*]] = tensor.extract_slice %{{.*}}[%[[S]], 0] [16, 4] [1, 1] : tensor<32x4xf32>
// CHECK:             blockscale.combine_rows %[[SOURCE]], %[[POSITIONS]], %[[WEIGHTS]] : {{.*}} to tensor<16x8xbf16>
module attributes {transform.with_named_sequence} {
  func.func @combine(%s: tensor<6x64xf32>, %p: tensor<32x4xi32>, %w: tensor<32x4xf32>) -> tensor<32x64xbf16> {
    %d = blockscale.combine_rows %s, %p, %w : tensor<6x64xf32>, tensor<32x4xi32>, tensor<32x4xf32> to tensor<32x64xbf16>
    return %d : tensor<32x64xbf16>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.combine_rows"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 8]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
