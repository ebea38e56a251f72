// A softmax is the largest, exponentials, their sum, and quotients.

// RUN: blockscale-opt %s --blockscale-decompose-softmax | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: blockscale-opt %s --blockscale-decompose-softmax=keep-rows | FileCheck %s --check-prefixes=CHECK,ROWS

// The example of the pass' description.

// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[X:.*]]: tensor<4x64xf32>, %[[OUT:.*]]: tensor<4x64xf32>)
// ALL:           %[[MOST:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]] :
// ALL:             arith.maxnumf
// ALL:           %[[EXPS:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[MOST]] :
// ALL:             arith.subf
// ALL:             math.exp
// ALL:           %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[EXPS]] :
// ALL:             arith.addf
// ALL:           linalg.generic {{.*}} ins(%[[EXPS]], %[[SUM]] :
// ALL:             arith.divf
// ALL-NOT:       linalg.softmax
// ROWS:          linalg.softmax
// ROWS-NOT:      linalg.generic
// CHECK:         return
func.func @f(%x: tensor<4x64xf32>, %out: tensor<4x64xf32>)
    -> tensor<4x64xf32> {
  %y = linalg.softmax dimension(1) ins(%x : tensor<4x64xf32>)
       outs(%out : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// 16-bit values are f32 in between.

// CHECK-LABEL: func.func @narrow(
// CHECK-SAME:    %[[X:.*]]: tensor<4x?xbf16>, %[[OUT:.*]]: tensor<4x?xbf16>)
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x?xbf16>) outs(%{{.*}} : tensor<4x?xf32>)
// CHECK:           arith.extf
// CHECK:         linalg.generic {{.*}} ins(%[[WIDE]] : tensor<4x?xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK:           math.exp
// CHECK:           arith.addf
// CHECK:         %[[QUOTIENTS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x?xf32>)
// CHECK:           arith.divf
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[QUOTIENTS]] : tensor<4x?xf32>) outs(%[[OUT]] : tensor<4x?xbf16>)
// CHECK:           arith.truncf
// CHECK:         return %[[Y]]
func.func @narrow(%x: tensor<4x?xbf16>, %out: tensor<4x?xbf16>)
    -> tensor<4x?xbf16> {
  %y = linalg.softmax dimension(0) ins(%x : tensor<4x?xbf16>)
       outs(%out : tensor<4x?xbf16>) -> tensor<4x?xbf16>
  return %y : tensor<4x?xbf16>
}

// A softmax in memory, or of another type, stays.

// CHECK-LABEL: func.func @others(
// CHECK:         linalg.softmax {{.*}} memref<4x8xf32>
// CHECK:         linalg.softmax {{.*}} tensor<4x8xi32>
// CHECK:         linalg.softmax {{.*}} tensor<4x8xf8E5M2>
func.func @others(%x: memref<4x8xf32>, %y: tensor<4x8xi32>,
                  %z: tensor<4x8xf8E5M2>)
    -> (tensor<4x8xi32>, tensor<4x8xf8E5M2>) {
  linalg.softmax dimension(1) ins(%x : memref<4x8xf32>)
      outs(%x : memref<4x8xf32>)
  %i = linalg.softmax dimension(1) ins(%y : tensor<4x8xi32>)
       outs(%y : tensor<4x8xi32>) -> tensor<4x8xi32>
  %n = linalg.softmax dimension(1) ins(%z : tensor<4x8xf8E5M2>)
       outs(%z : tensor<4x8xf8E5M2>) -> tensor<4x8xf8E5M2>
  return %i, %n : tensor<4x8xi32>, tensor<4x8xf8E5M2>
}
