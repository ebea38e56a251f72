// Casts of narrow floats become arithmetic on their codes.

// RUN: blockscale-opt %s --blockscale-expand-casts --split-input-file | FileCheck %s
// RUN: blockscale-opt %s --blockscale-expand-casts --canonicalize --split-input-file | FileCheck %s --check-prefix=FOLDED

// The example of the pass' description.

// CHECK-LABEL: func @widen(
// CHECK-SAME:    %[[X:.*]]: f4E2M1FN)
// CHECK-NEXT:    %[[CODE:.*]] = arith.bitcast %[[X]] : f4E2M1FN to i4
// CHECK-NEXT:    %[[BYTE:.*]] = arith.extui %[[CODE]] : i4 to i8
// CHECK-NEXT:    arith.extui %[[BYTE]] : i8 to i32
// CHECK-NOT:     {{extf|truncf|f64}}
// CHECK:         return %{{.*}} : f32
func.func @widen(%x: f4E2M1FN) -> f32 {
  %0 = arith.extf %x : f4E2M1FN to f32
  return %0 : f32
}

// Scales may be subnormal in f32.
// CHECK-LABEL: func @widen_scale(
// CHECK:         arith.extui %{{.*}} : i8 to i64
// CHECK:         arith.truncf %{{.*}} : f64 to f32
func.func @widen_scale(%x: f8E8M0FNU) -> f32 {
  %0 = arith.extf %x : f8E8M0FNU to f32
  return %0 : f32
}

// CHECK-LABEL: func @narrow(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    arith.bitcast %[[X]] : f32 to i32
// CHECK-NOT:     truncf
// CHECK:         %[[CODE:.*]] = arith.trunci %{{.*}} : i8 to i6
// CHECK-NEXT:    arith.bitcast %[[CODE]] : i6 to f6E3M2FN
func.func @narrow(%x: f32) -> f6E3M2FN {
  %0 = arith.truncf %x to_nearest_even : f32 to f6E3M2FN
  return %0 : f6E3M2FN
}

// Never through f32.
// CHECK-LABEL: func @narrow_f64(
// CHECK-NEXT:    arith.bitcast %{{.*}} : f64 to i64
// CHECK-NOT:     f32
// CHECK:         arith.bitcast %{{.*}} : i16 to bf16
func.func @narrow_f64(%x: f64) -> bf16 {
  %0 = arith.truncf %x : f64 to bf16
  return %0 : bf16
}

// CHECK-LABEL: func @vectors(
// CHECK:         arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK:         arith.bitcast %{{.*}} : vector<4xi8> to vector<4xf8E5M2>
func.func @vectors(%x: vector<4xf16>) -> vector<4xf8E5M2> {
  %0 = arith.truncf %x : vector<4xf16> to vector<4xf8E5M2>
  return %0 : vector<4xf8E5M2>
}

// One loop for all elements.
// CHECK-LABEL: func @tensors(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>)
// CHECK:         %[[M:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         %[[INIT:.*]] = tensor.empty(%[[M]]) : tensor<?x4xf8E4M3FN>
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[X]] : tensor<?x4xf32>) outs(%[[INIT]] : tensor<?x4xf8E4M3FN>)
// CHECK:           arith.bitcast %{{.*}} : f32 to i32
// CHECK:           linalg.yield %{{.*}} : f8E4M3FN
func.func @tensors(%x: tensor<?x4xf32>) -> tensor<?x4xf8E4M3FN> {
  %0 = arith.truncf %x : tensor<?x4xf32> to tensor<?x4xf8E4M3FN>
  return %0 : tensor<?x4xf8E4M3FN>
}

// CHECK-LABEL: func @scaling_truncf(
// CHECK-SAME:    %[[X:.*]]: f32, %[[S:.*]]: f8E8M0FNU)
// CHECK:         %[[CODE:.*]] = arith.bitcast %[[S]] : f8E8M0FNU to i8
// CHECK:         %[[SUM:.*]] = arith.constant -2 : i8
// CHECK:         arith.subi %[[SUM]], %[[CODE]] : i8
// CHECK:         arith.mulf %{{.*}} : f64
// CHECK:         arith.bitcast %{{.*}} : i4 to f4E2M1FN
func.func @scaling_truncf(%x: f32, %s: f8E8M0FNU) -> f4E2M1FN {
  %0 = arith.scaling_truncf %x, %s : f32, f8E8M0FNU to f4E2M1FN
  return %0 : f4E2M1FN
}

// A wider scale becomes one of e8m0 first.
// CHECK-LABEL: func @scaling_extf(
// CHECK-SAME:    %[[X:.*]]: f8E4M3FN, %[[S:.*]]: f32)
// CHECK:         arith.bitcast %[[S]] : f32 to i32
// CHECK:         arith.bitcast %{{.*}} : i8 to f8E8M0FNU
// CHECK:         arith.mulf %{{.*}} : f64
// CHECK:         arith.truncf %{{.*}} : f64 to f32
func.func @scaling_extf(%x: f8E4M3FN, %s: f32) -> f32 {
  %0 = arith.scaling_extf %x, %s : f8E4M3FN, f32 to f32
  return %0 : f32
}

// -----

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

// FOLDED-LABEL: func @constants(
// FOLDED-DAG:     %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// FOLDED-DAG:     %[[MOST:.*]] = arith.constant 6.000000e+00 : f4E2M1FN
// FOLDED-DAG:     %[[LEAST:.*]] = arith.constant -6.000000e+00 : f4E2M1FN
// FOLDED:         return %[[NAN]], %[[MOST]], %[[LEAST]]
func.func @constants() -> (f32, f4E2M1FN, f4E2M1FN) {
  %e8m0 = arith.constant 0xFF : f8E8M0FNU
  %nan = arith.constant 0xFFC00000 : f32
  %infinity = arith.constant 0xFF800000 : f32
  %0 = arith.extf %e8m0 : f8E8M0FNU to f32
  %1 = arith.truncf %nan : f32 to f4E2M1FN
  %2 = arith.truncf %infinity : f32 to f4E2M1FN
  return %0, %1, %2 : f32, f4E2M1FN, f4E2M1FN
}

// -----

//===----------------------------------------------------------------------===//
// Nothing to do
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @others(
// CHECK-NEXT:    arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT:    arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT:    arith.truncf %{{.*}} : f64 to f32
// CHECK-NEXT:    arith.extf %{{.*}} : f8E4M3FNUZ to f32
func.func @others(%a: f16, %b: f32, %c: f64, %d: f8E4M3FNUZ)
    -> (f32, bf16, f32, f32) {
  %0 = arith.extf %a : f16 to f32
  %1 = arith.truncf %b : f32 to bf16
  %2 = arith.truncf %c : f64 to f32
  %3 = arith.extf %d : f8E4M3FNUZ to f32
  return %0, %1, %2, %3 : f32, bf16, f32, f32
}
