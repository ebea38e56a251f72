// A warp or a block has a row of a reduction or of a softmax.

// RUN: blockscale-opt %s --blockscale-join-elementwise --blockscale-form-kernels -split-input-file | FileCheck %s

module attributes {blockscale.target = #blockscale.target<sm_90a>} {

// Four warps with a row each; what makes the values is inside, and so is what
// a result begins with.

// CHECK-LABEL: func.func @warps(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<6x64xf32>
// CHECK-NOT:     linalg
// CHECK:         %[[R:.*]] = blockscale.launch @kernels::@warps__reduce blocks = [2, 1, 1] threads = [128, 1, 1] ins(%[[X]] : tensor<6x64xf32>)
// CHECK:         return %[[R]]
func.func @warps(%x: tensor<6x64xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<6xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<6xf32>)
          -> tensor<6xf32>
  %exp = math.exp %x : tensor<6x64xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<6x64xf32>)
         outs(%fill : tensor<6xf32>) dimensions = [1]
  return %sum : tensor<6xf32>
}

// One block for all values; what is there before is read.

// CHECK-LABEL: func.func @block(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<30x100xf16>, %[[INIT:[^:]*]]: tensor<f16>
// CHECK:         blockscale.launch @kernels::@block__reduce blocks = [1, 1, 1] threads = [256, 1, 1] ins(%[[X]], %[[INIT]] :
func.func @block(%x: tensor<30x100xf16>, %init: tensor<f16>) -> tensor<f16> {
  %r = linalg.reduce { arith.maximumf } ins(%x : tensor<30x100xf16>)
       outs(%init : tensor<f16>) dimensions = [0, 1]
  return %r : tensor<f16>
}

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x200xbf16>
// CHECK:         cf.assert
// CHECK:         blockscale.launch @kernels::@softmax__softmax blocks = [%{{.*}}, 1, 1] threads = [128, 1, 1] ins(%[[X]] :
func.func @softmax(%x: tensor<?x200xbf16>, %out: tensor<?x200xbf16>)
    -> tensor<?x200xbf16> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x200xbf16>)
       outs(%out : tensor<?x200xbf16>) -> tensor<?x200xbf16>
  return %r : tensor<?x200xbf16>
}

// Loops stay: columns, short rows, sums of f16, products, two results.

// CHECK-LABEL: func.func @loops(
// CHECK-NOT:     blockscale.launch
// CHECK:         return
func.func @loops(%x: tensor<64x40xf32>, %s: tensor<64x4xf32>,
                 %h: tensor<64x40xf16>, %f: tensor<40xf32>, %g: tensor<64xf32>,
                 %i: tensor<64xf16>, %j: tensor<64xf32>)
    -> (tensor<40xf32>, tensor<64xf32>, tensor<64xf16>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>) {
  %columns = linalg.reduce { arith.addf } ins(%x : tensor<64x40xf32>)
             outs(%f : tensor<40xf32>) dimensions = [0]
  %short = linalg.reduce { arith.addf } ins(%s : tensor<64x4xf32>)
           outs(%g : tensor<64xf32>) dimensions = [1]
  %half = linalg.reduce { arith.addf } ins(%h : tensor<64x40xf16>)
          outs(%i : tensor<64xf16>) dimensions = [1]
  %product = linalg.reduce { arith.mulf } ins(%x : tensor<64x40xf32>)
             outs(%g : tensor<64xf32>) dimensions = [1]
  %two:2 = linalg.reduce ins(%x, %x : tensor<64x40xf32>, tensor<64x40xf32>)
           outs(%g, %j : tensor<64xf32>, tensor<64xf32>) dimensions = [1]
    (%a: f32, %b: f32, %c: f32, %d: f32) {
      %p = arith.addf %a, %c : f32
      %q = arith.maximumf %b, %d : f32
      linalg.yield %p, %q : f32, f32
    }
  return %columns, %short, %half, %product, %two#0, %two#1
      : tensor<40xf32>, tensor<64xf32>, tensor<64xf16>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>
}

// 7 values of a row for each lane, in registers.

// CHECK-LABEL: gpu.func @softmax__softmax(
// CHECK-NOT:     scf.for
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-COUNT-7: math.exp
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-COUNT-7: arith.divf

// CHECK-LABEL: gpu.func @block__reduce(
// CHECK-SAME:    workgroup(%[[SHARED:.*]] : memref<8xf16, #gpu.address_space<workgroup>>)
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK:         memref.store %{{.*}}, %[[SHARED]]
// CHECK:         gpu.barrier
// CHECK:         memref.load %[[SHARED]]
// CHECK-COUNT-3: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle

// CHECK-LABEL: gpu.func @warps__reduce(
// CHECK:         scf.if
// CHECK:           %[[ALL:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %
// CHECK:             math.exp
// CHECK-NEXT:        arith.addf %[[SUM]], %
// CHECK-COUNT-5:   gpu.shuffle xor
// CHECK-NOT:       gpu.shuffle
// CHECK:           memref.store

}

// -----

// Of a CPU, nothing is known of warps.

// CHECK-NOT: blockscale.launch
func.func @no_target(%x: tensor<6x64xf32>, %r: tensor<6xf32>)
    -> tensor<6xf32> {
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<6x64xf32>)
         outs(%r : tensor<6xf32>) dimensions = [1]
  return %sum : tensor<6xf32>
}
