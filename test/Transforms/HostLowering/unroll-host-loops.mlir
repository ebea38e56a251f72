// RUN: blockscale-opt %s --pass-pipeline="builtin.module(func.func(blockscale-unroll-host-loops))" --split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @twice
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>
// CHECK-NEXT:    %[[FIRST:.*]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT:    %[[SECOND:.*]] = arith.addf %[[FIRST]], %[[A]]
// CHECK-NEXT:    return %[[SECOND]]
func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %y = arith.addf %x, %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// The bounds of the inner loop are constant, those of the outer one, too; the
// last step of the inner loop is a shorter one.

// CHECK-LABEL: func.func @nested
// CHECK-NOT:     scf.for
// CHECK-COUNT-6: arith.addf
// CHECK-NOT:     arith.addf
// CHECK:         return
func.func @nested(%a: tensor<4xf32>, %b: tensor<9xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %s = scf.for %j = %c0 to %c5 step %c2 iter_args(%z = %x) -> tensor<4xf32> {
      %k = arith.addi %i, %j : index
      %v = tensor.extract_slice %b[%k] [4] [1] : tensor<9xf32> to tensor<4xf32>
      %y = arith.addf %z, %v : tensor<4xf32>
      scf.yield %y : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A loop in a structured op is one of the device.

// CHECK-LABEL: func.func @body
// CHECK:         linalg.map
// CHECK:           scf.for
func.func @body(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) (%v: f32, %o: f32) {
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %v) -> f32 {
      %y = arith.addf %x, %v : f32
      scf.yield %y : f32
    }
    linalg.yield %s : f32
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @no_loop
// CHECK:         arith.constant 1
// CHECK:         return
func.func @no_loop(%a: tensor<4xf32>) -> tensor<4xf32> {
  // Nothing happens where there is no loop.
  %c1 = arith.constant 1 : index
  return %a : tensor<4xf32>
}

// -----

func.func @dynamic(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{not supported in this version: 'scf.for' outside of kernels on a GPU target, with bounds that are not constant}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %y = arith.addf %x, %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @long(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2049 = arith.constant 2049 : index
  // expected-error@+1 {{not supported in this version: 'scf.for' outside of kernels on a GPU target, of more than 4096 ops when unrolled}}
  %r = scf.for %i = %c0 to %c2049 step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %y = arith.addf %x, %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @while(%a: tensor<4xf32>, %n: i1) -> tensor<4xf32> {
  // expected-error@+1 {{not supported in this version: 'scf.while' outside of kernels on a GPU target}}
  %r = scf.while (%x = %a) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%n) %x : tensor<4xf32>
  } do {
  ^bb0(%x: tensor<4xf32>):
    %y = arith.addf %x, %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
