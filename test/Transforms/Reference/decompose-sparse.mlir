// Sparse ops as loops: what each element looks up, and what fails at run time.

// RUN: blockscale-opt %s --blockscale-decompose | FileCheck %s

// A kept element finds its row of y; elements of y that are not named are not read.
// CHECK-DAG:   #[[$BLOCK:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 32)>
// CHECK-DAG:   #[[$BYTE:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 4)>
// CHECK-DAG:   #[[$M_K:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG:   #[[$M_N:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[$BYTE_OF_ATOM:.*]] = affine_map<(d0, d1) -> ((d1 floordiv 4) floordiv 16, d0 floordiv 128, d0 mod 128, (d1 floordiv 4) mod 16)>
// CHECK-DAG:   #[[$TILE:.*]] = affine_map<(d0, d1) -> (d1 floordiv 16, d0 floordiv 128, d0 mod 128, d1 mod 16)>
// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x64xf8E4M3FN>, %[[META:[a-z0-9]+]]: tensor<4x16xi8>, %[[XS:[a-z0-9]+]]: tensor<4x2xf8E8M0FNU>
// CHECK:         %[[XD:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[$BLOCK]], #{{.*}}]{{.*}} ins(%[[X]], %[[XS]] :
// CHECK:         %[[K:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[$BYTE]], #{{.*}}]{{.*}} ins(%[[X]], %[[META]] :
// CHECK:           scf.if
// CHECK-NEXT:        cf.assert %{{.*}}expected fields of metadata whose two positions ascend, or 0000 where both kept units are zeros
// CHECK:           linalg.yield %{{.*}} : i64
// CHECK:         linalg.generic {indexing_maps = [#[[$M_K]], #[[$M_K]], #[[$M_N]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[XD]], %[[K]] :
// CHECK-NEXT:    ^bb0(%[[XV:.*]]: f64, %[[AT:.*]]: i64, %[[SUM:.*]]: f64):
// CHECK:           %[[N:.*]] = linalg.index 2
// CHECK:           %[[ROW:.*]] = arith.index_cast %[[AT]] : i64 to index
// CHECK:           %[[YV:.*]] = tensor.extract %{{.*}}[%[[ROW]], %[[N]]] : tensor<128x8xf64>
// CHECK:           %[[TERM:.*]] = arith.mulf %[[XV]], %[[YV]] : f64
// CHECK:           arith.addf %[[SUM]], %[[TERM]] : f64
func.func @product(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>,
                   %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// Tiled metadata is read where it is.
// CHECK-LABEL: func.func @tiled(
// CHECK-SAME:    %[[T:.*]]: tensor<1x2x128x16xi8>,
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[$BYTE_OF_ATOM]], #{{.*}}]{{.*}}, %[[T]] :
func.func @tiled(%t: tensor<1x2x128x16xi8>, %x: tensor<200x64xf8E4M3FN>, %xs: tensor<200x2xf8E8M0FNU>,
                 %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<200x8xf32>) -> tensor<200x8xf32> {
  %m = blockscale.untile_metadata %t : tensor<1x2x128x16xi8> to tensor<200x16xi8>
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<200x64xf8E4M3FN>, tensor<200x16xi8>, tensor<200x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<200x8xf32>
  return %d : tensor<200x8xf32>
}

// CHECK-LABEL: func.func @untile(
// CHECK:         linalg.generic {indexing_maps = [#[[$TILE]], #{{.*}}]
func.func @untile(%t: tensor<1x2x128x16xi8>) -> tensor<200x16xi8> {
  %m = blockscale.untile_metadata %t : tensor<1x2x128x16xi8> to tensor<200x16xi8>
  return %m : tensor<200x16xi8>
}

// CHECK-LABEL: func.func @vectors(
// CHECK:         vector.transfer_write
// CHECK:         cf.assert %{{.*}}expected at most two pairs of each four that are not zero
// CHECK:         vector.transfer_read
// CHECK-NOT:     blockscale.
func.func @vectors(%d: vector<2x16xf4E2M1FN>) -> (vector<2x8xf4E2M1FN>, vector<2x1xi8>) {
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<pairs>} : vector<2x16xf4E2M1FN> to vector<2x8xf4E2M1FN>, vector<2x1xi8>
  return %x, %m : vector<2x8xf4E2M1FN>, vector<2x1xi8>
}
