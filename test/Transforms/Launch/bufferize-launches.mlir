// A launch overwrites its outputs. Only what another launch has made, and what
// the launch says to update, keeps its other parts.

// RUN: blockscale-opt %s --one-shot-bufferize="bufferize-function-boundaries" | FileCheck %s

// CHECK-LABEL: func.func @outputs(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xi32
// CHECK-NOT:     memref.copy
// CHECK:         gpu.launch_func @kernels::@write {{.*}} args(%[[NEW:.*]] : memref<4xi32>)
// CHECK-NOT:     memref.copy
// CHECK:         gpu.launch_func @kernels::@write {{.*}} args(%[[MADE:.*]] : memref<4xi32>)
// CHECK:         memref.copy %[[MADE]], %[[KEPT:.*]] :
// CHECK:         gpu.launch_func @kernels::@write {{.*}} args(%[[KEPT]] :
// CHECK:         memref.copy %[[X]], %[[UPDATED:.*]] :
// CHECK:         gpu.launch_func @kernels::@write {{.*}} args(%[[UPDATED]] :
// CHECK:         return %[[NEW]], %[[MADE]], %[[KEPT]], %[[UPDATED]]

module attributes {gpu.container_module} {
  func.func @outputs(%x: tensor<4xi32> {bufferization.writable = false})
      -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    %new = blockscale.launch @kernels::@write blocks = [1, 1, 1] threads = [32, 1, 1]
           ins() outs(%x : tensor<4xi32>) -> tensor<4xi32>
    %e = tensor.empty() : tensor<4xi32>
    %made = blockscale.launch @kernels::@write blocks = [1, 1, 1] threads = [32, 1, 1]
            ins() outs(%e : tensor<4xi32>) -> tensor<4xi32>
    %kept = blockscale.launch @kernels::@write blocks = [1, 1, 1] threads = [32, 1, 1]
            ins() outs(%made : tensor<4xi32>) -> tensor<4xi32>
    %updated = blockscale.launch @kernels::@write blocks = [1, 1, 1] threads = [32, 1, 1]
               ins() updates outs(%x : tensor<4xi32>) -> tensor<4xi32>
    return %new, %made, %kept, %updated : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
  gpu.module @kernels {
    gpu.func @write(%d: memref<4xi32>) kernel {
      gpu.return
    }
  }
}
