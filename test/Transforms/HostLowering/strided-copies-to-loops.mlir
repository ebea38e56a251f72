// Copies that would need a run-time library become loops.

// RUN: blockscale-opt %s --blockscale-strided-copies-to-loops --split-input-file | FileCheck %s

// The example of the pass' description.

// CHECK:       #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func @copy(
// CHECK-SAME:    %[[FROM:.*]]: memref<4x4xi8, strided<[8, 1]>>, %[[TO:.*]]: memref<4x4xi8>)
// CHECK-NEXT:    linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      ins(%[[FROM]] : memref<4x4xi8, strided<[8, 1]>>) outs(%[[TO]] : memref<4x4xi8>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: i8, %{{.*}}: i8):
// CHECK-NEXT:      linalg.yield %[[IN]] : i8
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @copy(%from: memref<4x4xi8, strided<[8, 1]>>, %to: memref<4x4xi8>) {
  memref.copy %from, %to
      : memref<4x4xi8, strided<[8, 1]>> to memref<4x4xi8>
  return
}

// -----

// CHECK-LABEL: func @copy_to_strided(
// CHECK-SAME:    %[[FROM:.*]]: memref<?x4xf32>, %[[TO:.*]]: memref<?x4xf32, strided<[?, 1], offset: ?>>)
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[FROM]] : memref<?x4xf32>) outs(%[[TO]] :
// CHECK-NOT:     memref.copy
func.func @copy_to_strided(%from: memref<?x4xf32>,
                           %to: memref<?x4xf32, strided<[?, 1], offset: ?>>) {
  memref.copy %from, %to
      : memref<?x4xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
  return
}

// -----

// CHECK-LABEL: func @contiguous(
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    return
func.func @contiguous(%from: memref<?x4xi8>, %to: memref<?x4xi8>) {
  memref.copy %from, %to : memref<?x4xi8> to memref<?x4xi8>
  return
}

// -----

// CHECK-LABEL: func @unranked(
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    return
func.func @unranked(%from: memref<*xi8>, %to: memref<*xi8>) {
  memref.copy %from, %to : memref<*xi8> to memref<*xi8>
  return
}
