// With `all`, contiguous copies become loops too.

// RUN: blockscale-opt %s --blockscale-strided-copies-to-loops=all | FileCheck %s

// CHECK-LABEL: func @contiguous(
// CHECK-SAME:    %[[FROM:.*]]: memref<2x4xi8>, %[[TO:.*]]: memref<2x4xi8>)
// CHECK-NEXT:    linalg.generic {{.*}} ins(%[[FROM]] : memref<2x4xi8>) outs(%[[TO]] : memref<2x4xi8>)
// CHECK-NOT:     memref.copy
func.func @contiguous(%from: memref<2x4xi8>, %to: memref<2x4xi8>) {
  memref.copy %from, %to : memref<2x4xi8> to memref<2x4xi8>
  return
}

// CHECK-LABEL: func @strided(
// CHECK-NEXT:    linalg.generic
// CHECK-NOT:     memref.copy
func.func @strided(%from: memref<2x4xi8, strided<[8, 1]>>,
                   %to: memref<2x4xi8>) {
  memref.copy %from, %to
      : memref<2x4xi8, strided<[8, 1]>> to memref<2x4xi8>
  return
}

// There are no loops for an unknown rank.
// CHECK-LABEL: func @unranked(
// CHECK-NEXT:    memref.copy
func.func @unranked(%from: memref<*xi8>, %to: memref<*xi8>) {
  memref.copy %from, %to : memref<*xi8> to memref<*xi8>
  return
}
