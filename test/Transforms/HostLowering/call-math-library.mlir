// expm1 and log1p as calls of the C library; other functions stay.

// RUN: blockscale-opt %s --blockscale-call-math-library | FileCheck %s

// CHECK-DAG:   func.func private @expm1f(f32) -> f32
// CHECK-DAG:   func.func private @expm1(f64) -> f64
// CHECK-DAG:   func.func private @log1pf(f32) -> f32

// CHECK-LABEL: func.func @functions(
// CHECK-SAME:    %[[X:.*]]: f32, %[[Y:.*]]: f64, %[[Z:.*]]: vector<2xf32>)
// CHECK-DAG:     call @expm1f(%[[X]])
// CHECK-DAG:     call @expm1(%[[Y]])
// CHECK-DAG:     math.exp %[[X]]
// CHECK-COUNT-2: call @log1pf
// CHECK-NOT:     math
func.func @functions(%x: f32, %y: f64, %z: vector<2xf32>) -> (f32, f64, f32, vector<2xf32>) {
  %0 = math.expm1 %x : f32
  %1 = math.expm1 %y : f64
  %2 = math.exp %x : f32
  %3 = math.log1p %z : vector<2xf32>
  return %0, %1, %2, %3 : f32, f64, f32, vector<2xf32>
}
