// Sparse products with an instruction get its path, and a check of their metadata; others are errors
// with --native-only.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-select-path=native-only --split-input-file --verify-diagnostics | FileCheck %s

// Empty chunks get a legal field, since y of fp6 has neither NaN nor infinity.
// CHECK-LABEL: func.func @checked(
// CHECK-SAME:    %[[X:.*]]: tensor<4x64xf8E4M3FN>, %[[M:.*]]: tensor<4x16xi8>
// CHECK:         %[[CHECKED:.*]] = linalg.generic {{.*}} ins(%[[M]] : tensor<4x16xi8>)
// CHECK-COUNT-2: cf.assert %{{.*}}, "{{.*}}expected fields of metadata whose two positions ascend, or 0000 where both kept units are zeros
// CHECK:         blockscale.sparse_mma_scaled %[[X]], %[[CHECKED]], {{.*}} {blockscale.path = #blockscale.path<mma_sync>, granularity = #blockscale.granularity<2:4>}
func.func @checked(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>,
                   %y: tensor<128x8xf6E2M3FN>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @legal(
// CHECK-NOT:     linalg.generic
// CHECK-COUNT-3: blockscale.sparse_mma_scaled {{.*}}blockscale.path = #blockscale.path<mma_sync>
func.func @legal(%dense: tensor<4x128xf8E4M3FN>, %x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>,
                 %y: tensor<128x8xf8E4M3FN>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>, legal_metadata}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  %kept, %fields = blockscale.compress %dense {granularity = #blockscale.granularity<2:4>}
      : tensor<4x128xf8E4M3FN> to tensor<4x64xf8E4M3FN>, tensor<4x16xi8>
  %1 = blockscale.sparse_mma_scaled %kept, %fields, %xs, %y, %ys, %0 {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  %c = arith.constant dense<0x9e> : tensor<4x16xi8>
  %2 = blockscale.sparse_mma_scaled %x, %c, %xs, %y, %ys, %1 {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

func.func @illegal_constant(%x: tensor<4x64xf8E4M3FN>, %xs: tensor<4x2xf8E8M0FNU>,
                            %y: tensor<128x8xf8E4M3FN>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-LABEL: func.func @illegal_constant(
  // CHECK:         cf.assert
  %c = arith.constant dense<0x4f> : tensor<4x16xi8>
  %d = blockscale.sparse_mma_scaled %x, %c, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @no_row(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x4xf8E8M0FNU>,
                  %y: tensor<128x8xf6E2M3FN>, %ys: tensor<4x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'blockscale.sparse_mma_scaled' op no kernel with a sparse instruction for it on sm_120a}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x4xf8E8M0FNU>, tensor<128x8xf6E2M3FN>, tensor<4x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @other_path(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>,
                      %y: tensor<128x8xf6E2M3FN>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{the attribute 'blockscale.path' does not request the path mma_sync}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc
      {granularity = #blockscale.granularity<2:4>, blockscale.path = #blockscale.path<dequant_mma>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @not_a_path(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>,
                      %y: tensor<128x8xf6E2M3FN>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{expected the attribute 'blockscale.path' to be a #blockscale.path, got 1 : i64}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc
      {granularity = #blockscale.granularity<2:4>, blockscale.path = 1 : i64}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}
