// RUN: blockscale-opt %s --blockscale-expands-to-casts | FileCheck %s

// CHECK-LABEL: func @quotient(
// CHECK-SAME:      %[[X:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[M:.*]]: index
// CHECK:         %[[BASE:.*]], %{{.*}}, %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[X]]
// CHECK:         memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[N]], %[[M]]], strides: [%[[M]], 1] : memref<f32> to memref<?x?xf32>
func.func @quotient(%x: memref<?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
  %r = memref.expand_shape %x [[0, 1]] output_shape [%n, %m] : memref<?xf32> into memref<?x?xf32>
  return %r : memref<?x?xf32>
}

// Strides of memory that is a part of other memory, and of other groups.
// CHECK-LABEL: func @strided(
// CHECK-SAME:      %[[X:.*]]: memref<?x6xf32, strided<[?, 1], offset: ?>>, %[[A:.*]]: index, %[[B:.*]]: index
// CHECK:         %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK:         %[[STRIDE:.*]] = arith.muli %[[STRIDES]]#0, %[[B]]
// CHECK:         memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [%[[A]], %[[B]], 2, 3], strides: [%[[STRIDE]], %[[STRIDES]]#0, 3, 1]
func.func @strided(%x: memref<?x6xf32, strided<[?, 1], offset: ?>>, %a: index, %b: index)
    -> memref<?x?x2x3xf32, strided<[?, ?, 3, 1], offset: ?>> {
  %r = memref.expand_shape %x [[0, 1], [2, 3]] output_shape [%a, %b, 2, 3]
      : memref<?x6xf32, strided<[?, 1], offset: ?>> into memref<?x?x2x3xf32, strided<[?, ?, 3, 1], offset: ?>>
  return %r : memref<?x?x2x3xf32, strided<[?, ?, 3, 1], offset: ?>>
}

// Upstream takes one dynamic size in a group.
// CHECK-LABEL: func @one(
// CHECK:         memref.expand_shape
func.func @one(%x: memref<?xf32>, %n: index) -> memref<?x4xf32> {
  %r = memref.expand_shape %x [[0, 1]] output_shape [%n, 4] : memref<?xf32> into memref<?x4xf32>
  return %r : memref<?x4xf32>
}
