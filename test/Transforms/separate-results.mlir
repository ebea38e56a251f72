// RUN: blockscale-opt %s --pass-pipeline='builtin.module(func.func(blockscale-separate-results))' | FileCheck %s

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
