// Scalars that functions return become tensors of one element.

// RUN: blockscale-opt %s --blockscale-scalar-results -split-input-file -verify-diagnostics | FileCheck %s

// The example of the pass' description.

// CHECK-LABEL: func.func @first(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty() : tensor<f32>
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {indexing_maps = [#{{.*}}], iterator_types = []} outs(%[[EMPTY]] : tensor<f32>) {
// CHECK:           %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[E:.*]] = tensor.extract %[[X]][%[[C0]]] : tensor<4xf32>
// CHECK-NEXT:      %[[N:.*]] = arith.negf %[[E]] : f32
// CHECK-NEXT:      linalg.yield %[[N]] : f32
// CHECK-NEXT:    } -> tensor<f32>
// CHECK-NEXT:    return %[[R]] : tensor<f32>
func.func @first(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %x[%c0] : tensor<4xf32>
  %1 = arith.negf %0 : f32
  return %1 : f32
}

// What is a tensor of one element is that; arguments and constants are stored.

// CHECK-LABEL: func.func @others(
// CHECK-SAME:    %[[X:.*]]: tensor<f32>, %[[I:.*]]: index) -> (tensor<f32>, tensor<index>, tensor<i1>)
// CHECK:         %[[INDEX:.*]] = linalg.generic
// CHECK:           linalg.yield %[[I]] : index
// CHECK:         %[[TRUE:.*]] = linalg.generic
// CHECK:           %[[T:.*]] = arith.constant true
// CHECK:           linalg.yield %[[T]] : i1
// CHECK:         return %[[X]], %[[INDEX]], %[[TRUE]]
func.func @others(%x: tensor<f32>, %i: index) -> (f32, index, i1) {
  %0 = tensor.extract %x[] : tensor<f32>
  %true = arith.constant true
  return %0, %i, %true : f32, index, i1
}

// Nothing is to be done: tensors, and functions that no launch is of.

// CHECK-LABEL: func.func @tensors(
// CHECK-SAME:    -> tensor<f32>
func.func @tensors(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// CHECK-LABEL: func.func private @inner(
// CHECK-SAME:    -> f32
func.func private @inner(%x: f32) -> f32 {
  return %x : f32
}

// -----

// expected-error@+1 {{not supported in this version: a function with scalar results that others call, on a GPU target}}
func.func @called(%x: f32) -> f32 {
  %0 = func.call @called(%x) : (f32) -> f32
  return %0 : f32
}
