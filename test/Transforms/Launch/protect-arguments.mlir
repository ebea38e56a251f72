// Tensor arguments of public functions are not written to.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(func.func(blockscale-protect-arguments))" | FileCheck %s
// RUN: blockscale-opt %s --blockscale-protect-arguments | FileCheck %s

// The example of the pass' description.

// CHECK-LABEL: func.func @negate(
// CHECK-SAME:    %{{.*}}: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32>
func.func @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.map { arith.negf } ins(%x : tensor<4xf32>)
       outs(%x : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// Only tensors; an attribute that is there stays.
// CHECK-LABEL: func.func @mixed(
// CHECK-SAME:    %{{.*}}: f32, %{{.*}}: tensor<?xf8E4M3FN> {bufferization.writable = false, test.note},
// CHECK-SAME:    %{{.*}}: memref<4xf32>, %{{.*}}: tensor<2xi8> {bufferization.writable = true},
// CHECK-SAME:    %{{.*}}: vector<4xf32>, %{{.*}}: tensor<*xf32> {bufferization.writable = false})
func.func @mixed(%a: f32, %b: tensor<?xf8E4M3FN> {test.note}, %c: memref<4xf32>,
                 %d: tensor<2xi8> {bufferization.writable = true},
                 %e: vector<4xf32>, %f: tensor<*xf32>) {
  return
}

// The callers of these are known to bufferization.
// CHECK-LABEL: func.func private @private(
// CHECK-SAME:    %{{.*}}: tensor<4xf32>) -> tensor<4xf32>
func.func private @private(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func private @external(
// CHECK-SAME:    tensor<4xf32>)
func.func private @external(tensor<4xf32>)
