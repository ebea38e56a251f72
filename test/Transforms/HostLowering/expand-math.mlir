// Functions without a library: intrinsics and arithmetic.

// RUN: blockscale-opt %s --blockscale-expand-math | FileCheck %s

// The example of the pass' description.

// CHECK-LABEL: gpu.func @root(
// CHECK-NEXT:    %[[ROOT:.*]] = llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (f32) -> f32
// CHECK-NEXT:    memref.store %[[ROOT]]
gpu.module @kernels {
  gpu.func @root(%x: f32, %to: memref<f32>) kernel {
    %0 = math.sqrt %x : f32
    memref.store %0, %to[] : memref<f32>
    gpu.return
  }
}

// CHECK-LABEL: func @approximated(
// CHECK-NOT:     math
// CHECK:         return
func.func @approximated(%x: f32) -> (f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.erf %0 : f32
  return %0, %1 : f32, f32
}

// CHECK-LABEL: func @through_f32(
// CHECK-NEXT:    %[[WIDE:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT:    %[[FLOOR:.*]] = llvm.call_intrinsic "llvm.floor"(%[[WIDE]]) : (f32) -> f32
// CHECK-NEXT:    arith.truncf %[[FLOOR]] : f32 to bf16
// CHECK-NEXT:    llvm.call_intrinsic "llvm.fabs"(%{{.*}}) : (bf16) -> bf16
func.func @through_f32(%x: bf16) -> (bf16, bf16) {
  %0 = math.floor %x : bf16
  %1 = math.absf %x : bf16
  return %0, %1 : bf16, bf16
}

// CHECK-LABEL: func @vector(
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (f64) -> f64
// CHECK:         vector.from_elements
func.func @vector(%x: vector<2xf64>) -> vector<2xf64> {
  %0 = math.sqrt %x : vector<2xf64>
  return %0 : vector<2xf64>
}

// CHECK-LABEL: func @integers(
// CHECK-NEXT:    math.ctpop
func.func @integers(%x: i32) -> i32 {
  %0 = math.ctpop %x : i32
  return %0 : i32
}
