// RUN: blockscale-opt %s --pass-pipeline='builtin.module(func.func(blockscale-separate-results))' -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @twice
// CHECK: %[[A:.*]] = memref.alloc()
// CHECK: %[[B:.*]] = memref.alloc()
// CHECK: memref.copy %[[A]], %[[B]]
// CHECK: return %[[A]], %[[B]]
func.func @twice() -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  return %a, %a : memref<4xf32>, memref<4xf32>
}

// Different buffers stay.
// CHECK-LABEL: func @once
// CHECK-NOT: memref.copy
func.func @once(%a: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %b = memref.alloc() : memref<4xf32>
  return %a, %b : memref<4xf32>, memref<4xf32>
}

// -----

// What is said of sizes of results.
// CHECK-LABEL: func @dynamic
// CHECK:         %[[M:.*]] = memref.dim %{{.*}}, %c0
// CHECK:         %[[N:.*]] = memref.dim %{{.*}}, %c1
// CHECK:         %[[BLOCKS:.*]] = arith.ceildivui %[[M]], %c128
// CHECK:         %[[R:.*]] = memref.alloc(%[[N]], %[[BLOCKS]])
// CHECK:         blockscale.result_sizes %[[R]] sizes(%[[N]], %[[BLOCKS]]) : memref<?x4x?xf32>
func.func @dynamic(%a: memref<?x?xf32>, %b: memref<2x?xf32>, %c: memref<2xf32>)
    -> (memref<?x4x?xf32>, memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %n = memref.dim %b, %c1 : memref<2x?xf32>
  %blocks = arith.ceildivui %m, %c128 : index
  %r = memref.alloc(%n, %blocks) : memref<?x4x?xf32>
  return %r, %c : memref<?x4x?xf32>, memref<2xf32>
}

// -----

// Products, quotients and integers are sizes, too.
// CHECK-LABEL: func @quotients
// CHECK:         %[[P:.*]] = arith.muli
// CHECK:         %[[Q:.*]] = arith.divui
// CHECK:         blockscale.result_sizes %{{.*}} sizes(%[[P]], %[[Q]])
func.func @quotients(%a: memref<?x?xf32>, %n: index) -> memref<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %k = memref.dim %a, %c1 : memref<?x?xf32>
  %p = arith.muli %m, %k : index
  %q = arith.divui %m, %n : index
  %r = memref.alloc(%p, %q) : memref<?x?xf32>
  return %r : memref<?x?xf32>
}

// -----

// A result that is a reshape is allocated as it is returned.
// CHECK-LABEL: func @expanded(
// CHECK-SAME:      %[[A:.*]]: memref<?x8xf32>, %[[N:.*]]: index
// CHECK:         %[[M:.*]] = memref.dim %[[A]], %c0
// CHECK:         %[[Q:.*]] = arith.divui %[[M]], %[[N]]
// CHECK:         %[[R:.*]] = memref.alloc(%[[N]], %[[Q]]) : memref<?x?x8xf32>
// CHECK:         %[[V:.*]] = memref.collapse_shape %[[R]] {{\[\[}}0, 1], [2]] : memref<?x?x8xf32> into memref<?x8xf32>
// CHECK:         memref.store %{{.*}}, %[[V]]
// CHECK:         blockscale.result_sizes %[[R]]
// CHECK:         return %[[R]]
func.func @expanded(%a: memref<?x8xf32>, %n: index, %v: f32) -> memref<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = memref.dim %a, %c0 : memref<?x8xf32>
  %r = memref.alloc(%m) : memref<?x8xf32>
  memref.store %v, %r[%c0, %c0] : memref<?x8xf32>
  %q = arith.divui %m, %n : index
  %e = memref.expand_shape %r [[0, 1], [2]] output_shape [%n, %q, 8] : memref<?x8xf32> into memref<?x?x8xf32>
  return %e : memref<?x?x8xf32>
}

// -----

// CHECK-LABEL: func @collapsed(
// CHECK:         %[[R:.*]] = memref.alloc() : memref<32xf32>
// CHECK:         %[[V:.*]] = memref.expand_shape %[[R]] {{\[\[}}0, 1]] output_shape [4, 8]
// CHECK:         memref.store %{{.*}}, %[[V]]
// CHECK:         return %[[R]]
func.func @collapsed(%v: f32) -> memref<32xf32> {
  %c0 = arith.constant 0 : index
  %r = memref.alloc() : memref<4x8xf32>
  memref.store %v, %r[%c0, %c0] : memref<4x8xf32>
  %e = memref.collapse_shape %r [[0, 1]] : memref<4x8xf32> into memref<32xf32>
  return %e : memref<32xf32>
}

// -----

func.func @not_of_an_argument(%n: memref<index>) -> memref<4x?xf32> {
  %i = memref.load %n[] : memref<index>
  %r = memref.alloc(%i) : memref<4x?xf32>
  // expected-error@+1 {{not supported in this version: result #0 of 'memref<4x?xf32>' on a GPU target, with dynamic size #0 that is not computed from sizes of arguments and from arguments that are integers}}
  return %r : memref<4x?xf32>
}

// -----

// What has no rank has no sizes that results could have.
// CHECK-LABEL: func @unranked
// CHECK:         blockscale.result_sizes
func.func @unranked(%a: memref<*xf32>, %b: tensor<*xi4>, %c: memref<?xf32>)
    -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %c, %c0 : memref<?xf32>
  %r = memref.alloc(%n) : memref<?xf32>
  return %r : memref<?xf32>
}
