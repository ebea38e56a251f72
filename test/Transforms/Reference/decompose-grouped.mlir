// The loops that define grouped products and sums of rows.

// RUN: blockscale-opt %s --blockscale-decompose --split-input-file | FileCheck %s

// Groups end at most at T, and no earlier than the one before. Rows of x are gathered, from rows that there are.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<9x64xbf16>, %[[Y:[a-z0-9]+]]: tensor<3x64x8xbf16>, %[[O:[a-z0-9]+]]: tensor<3xi32>,
// CHECK:         %[[LOOP:.*]]:2 = scf.for %[[G:[a-z0-9]+]] = %c0 to %c3 step %c1 iter_args(%[[D:.*]] = %{{.*}}, %[[START:.*]] = %c0)
// CHECK:           %[[OFFSET:.*]] = tensor.extract %[[O]][%[[G]]]
// CHECK:           %[[INDEX:.*]] = arith.index_cast %[[OFFSET]]
// CHECK:           %[[LATER:.*]] = arith.maxsi %[[INDEX]], %[[START]]
// CHECK:           %[[END:.*]] = arith.minsi %[[LATER]], %c6
// CHECK:           %[[COUNT:.*]] = arith.subi %[[END]], %[[START]]
// CHECK:           %[[ACC:.*]] = tensor.extract_slice %[[D]][%[[START]], 0] [%[[COUNT]], 8]
// CHECK:           %[[XS:.*]] = linalg.generic
// CHECK:             arith.maxsi %{{.*}}, %c0
// CHECK:             arith.minsi %{{.*}}, %c8
// CHECK:             tensor.extract %[[X]]
// CHECK:           %[[YG:.*]] = tensor.extract_slice %[[Y]][%[[G]], 0, 0] [1, 64, 8]
// CHECK:           linalg.matmul ins(%[[XS]], %[[YG]] : tensor<?x64xbf16>, tensor<64x8xbf16>) outs(%[[ACC]] :
// CHECK:           tensor.insert_slice %{{.*}} into %[[D]][%[[START]], 0] [%[[COUNT]], 8]
// CHECK:         return %[[LOOP]]#0
func.func @rows(%x: tensor<9x64xbf16>, %y: tensor<3x64x8xbf16>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>,
                %r: tensor<6xi32>) -> tensor<6x8xf32> {
  %d = blockscale.grouped_matmul %x, %y, %o, %acc rows(%r : tensor<6xi32>)
      : tensor<9x64xbf16>, tensor<3x64x8xbf16>, tensor<3xi32>, tensor<6x8xf32>
  return %d : tensor<6x8xf32>
}

// -----

// With a factor, the product starts with zeros.

// CHECK-LABEL: func.func @scaled(
// CHECK-SAME:    %[[S:[a-z0-9]+]]: tensor<3xf32>) -> tensor<6x8xf32>
// CHECK:         scf.for %[[G:[a-z0-9]+]] = %c0
// CHECK:           %[[ZEROS:.*]] = linalg.fill
// CHECK:           %[[FACTOR:.*]] = tensor.extract %[[S]][%[[G]]]
// CHECK:           linalg.generic
// CHECK:             %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %[[FACTOR]] : f32
// CHECK:             arith.addf %{{.*}}, %[[PRODUCT]] : f32
func.func @scaled(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>,
                  %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>, %s: tensor<3xf32>) -> tensor<6x8xf32> {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc group_scale(%s : tensor<3xf32>)
      : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return %d : tensor<6x8xf32>
}

// -----

// CHECK-LABEL: func.func @combine(
// CHECK:         linalg.generic
// CHECK:           %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args(%{{.*}} = %cst) -> (f32)
// CHECK:             cf.assert %false, {{.*}}expected positions from -1 to T - 1
// CHECK:             scf.if
// CHECK:               %[[VALUE:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK:               %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %[[VALUE]] : f32
// CHECK:               arith.addf %{{.*}}, %[[PRODUCT]] : f32
// CHECK:           arith.truncf %[[SUM]] : f32 to f16
func.func @combine(%s: tensor<6x8xbf16>, %p: tensor<5x2xi32>, %w: tensor<5x2xf32>) -> tensor<5x8xf16> {
  %d = blockscale.combine_rows %s, %p, %w : tensor<6x8xbf16>, tensor<5x2xi32>, tensor<5x2xf32> to tensor<5x8xf16>
  return %d : tensor<5x8xf16>
}
