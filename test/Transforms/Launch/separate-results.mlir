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

// Sizes of results are recorded: those of arguments, by argument, then by
// dimension.
// CHECK: #[[$SIZES:.*]] = affine_map<(d0, d1, d2) -> (d2, 4, d0 ceildiv 128)>
// CHECK-LABEL: func @dynamic
// CHECK-SAME: -> (memref<?x4x?xf32> {blockscale.sizes = #[[$SIZES]]}, memref<2xf32>)
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

func.func @not_of_an_argument(%n: index) -> memref<?xf32> {
  %r = memref.alloc(%n) : memref<?xf32>
  // expected-error@+1 {{not supported in this version: result #0 with a size, in dimension 0, that is not one of the arguments' on a GPU target}}
  return %r : memref<?xf32>
}

// -----

// What has no rank has no sizes that results could have.
// CHECK: #[[$SIZE:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @unranked
// CHECK-SAME: -> (memref<?xf32> {blockscale.sizes = #[[$SIZE]]})
func.func @unranked(%a: memref<*xf32>, %b: tensor<*xi4>, %c: memref<?xf32>)
    -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %c, %c0 : memref<?xf32>
  %r = memref.alloc(%n) : memref<?xf32>
  return %r : memref<?xf32>
}
