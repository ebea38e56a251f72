// Assertions about dynamic sizes, offsets and rows.

// RUN: blockscale-opt %s --generate-runtime-verification --split-input-file | FileCheck %s

// CHECK-LABEL: func @scaled(
// CHECK-COUNT-2: cf.assert {{.*}}expected sizes of y to be at least 1
// CHECK:         cf.assert {{.*}}expected x_scale to have the R of x
// CHECK:         cf.assert {{.*}}expected y_scale to have the G of y
// CHECK:         cf.assert {{.*}}expected y_scale to have the N of y
// CHECK:         cf.assert {{.*}}expected offsets to have the G of y
// CHECK:         cf.assert {{.*}}expected bias to have the G of y
// CHECK:         cf.assert {{.*}}expected acc to have the N of y
// CHECK:         cf.assert {{.*}}expected bias to have the N of y
// CHECK:         cf.assert {{.*}}expected rows to have the T of acc
// CHECK:         scf.parallel (%[[G:.*]]) =
// CHECK:           %[[OFFSET:.*]] = tensor.extract %[[OFFSETS:.*]][%[[G]]] : tensor<?xi32>
// CHECK:           %[[END:.*]] = arith.index_cast %[[OFFSET]] : i32 to index
// CHECK:           %[[LAST:.*]] = arith.subi %[[G]], %c1
// CHECK:           %[[NUMBER:.*]] = arith.maxsi %[[LAST]], %c0
// CHECK:           %[[IS_FIRST:.*]] = arith.cmpi eq, %[[G]], %c0
// CHECK:           %[[ONE_BEFORE:.*]] = tensor.extract %[[OFFSETS]][%[[NUMBER]]]
// CHECK:           %[[INDEX:.*]] = arith.index_cast %[[ONE_BEFORE]]
// CHECK:           %[[BEFORE:.*]] = arith.select %[[IS_FIRST]], %c0{{.*}}, %[[INDEX]]
// CHECK:           %[[ASCENDS:.*]] = arith.cmpi sge, %[[END]], %[[BEFORE]]
// CHECK:           %[[INSIDE:.*]] = arith.cmpi sle, %[[END]]
// CHECK:           %[[BOTH:.*]] = arith.andi %[[ASCENDS]], %[[INSIDE]]
// CHECK:           cf.assert %[[BOTH]], {{.*}}expected offsets to ascend from 0 to at most T
// CHECK:         scf.parallel
// CHECK:           cf.assert {{.*}}expected rows from -1 to R - 1
// CHECK:         blockscale.grouped_mma_scaled
func.func @scaled(%x: tensor<?x64xf8E4M3FN>, %xs: tensor<?x2xf8E8M0FNU>, %y: tensor<?x64x?xf8E5M2>,
                  %ys: tensor<?x2x?xf8E8M0FNU>, %o: tensor<?xi32>, %acc: tensor<?x?xf32>, %r: tensor<?xi32>,
                  %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc rows(%r : tensor<?xi32>) bias(%b : tensor<?x?xf32>)
      : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>, tensor<?x64x?xf8E5M2>, tensor<?x2x?xf8E8M0FNU>, tensor<?xi32>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// -----

// Data is checked where all sizes are static, too.

// CHECK-LABEL: func @plain(
// CHECK-NOT:     to have the
// CHECK:         cf.assert {{.*}}expected offsets to ascend from 0 to at most T
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.grouped_matmul
func.func @plain(%x: tensor<6x64xbf16>, %y: tensor<3x64x8xbf16>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %d = blockscale.grouped_matmul %x, %y, %o, %acc : tensor<6x64xbf16>, tensor<3x64x8xbf16>, tensor<3xi32>, tensor<6x8xf32>
  return %d : tensor<6x8xf32>
}

// -----

// Not if the program says that it is legal.

// CHECK-LABEL: func @legal(
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.grouped_matmul
func.func @legal(%x: tensor<6x64xbf16>, %y: tensor<3x64x8xbf16>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %d = blockscale.grouped_matmul %x, %y, %o, %acc {legal_groups} : tensor<6x64xbf16>, tensor<3x64x8xbf16>, tensor<3xi32>, tensor<6x8xf32>
  return %d : tensor<6x8xf32>
}

// -----

// CHECK-LABEL: func @k(
// CHECK:         cf.assert {{.*}}expected K to be K_s times the block size, 32
func.func @k(%x: tensor<6x?xf8E4M3FN>, %xs: tensor<6x?xf8E8M0FNU>, %y: tensor<3x?x8xf8E5M2>, %ys: tensor<3x?x8xf8E8M0FNU>,
             %o: tensor<3xi32>, %acc: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {block_size = 32}
      : tensor<6x?xf8E4M3FN>, tensor<6x?xf8E8M0FNU>, tensor<3x?x8xf8E5M2>, tensor<3x?x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return %d : tensor<6x8xf32>
}

// -----

// Positions are checked where they are read, see test/Transforms/Reference/decompose-grouped.mlir.

// CHECK-LABEL: func @combine(
// CHECK:         cf.assert {{.*}}expected N to be at least 1
// CHECK:         cf.assert {{.*}}expected J to be at least 1
// CHECK:         cf.assert {{.*}}expected weights to have the S of positions
// CHECK:         cf.assert {{.*}}expected weights to have the J of positions
// CHECK:         cf.assert {{.*}}expected the result to have the S of positions
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.combine_rows
func.func @combine(%s: tensor<?x?xf32>, %p: tensor<?x?xi32>, %w: tensor<?x?xf32>) -> tensor<5x?xf32> {
  %d = blockscale.combine_rows %s, %p, %w : tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?xf32> to tensor<5x?xf32>
  return %d : tensor<5x?xf32>
}
