// Kernels of route and sort_routes.

// RUN: blockscale-opt %s --blockscale-form-kernels --canonicalize --split-input-file | FileCheck %s

module attributes {blockscale.target = #blockscale.target<sm_80>} {

// A warp has a row, and goes through it once for each slot. Lanes share what they have found: five exchanges of both
// halves of a key. The first lanes write a slot each.

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[LOGITS:.*]]: tensor<9x40xbf16>)
// CHECK-DAG:     %[[IDS:.*]] = tensor.empty() : tensor<9x2xi32>
// CHECK-DAG:     %[[WEIGHTS:.*]] = tensor.empty() : tensor<9x2xf32>
// CHECK:         %[[R:.*]]:2 = blockscale.launch @kernels::@main__route blocks = [3, 1, 1] threads = [128, 1, 1] ins(%[[LOGITS]] : tensor<9x40xbf16>) outs(%[[IDS]], %[[WEIGHTS]] :
// CHECK:         return %[[R]]#0, %[[R]]#1

// CHECK:       gpu.func @main__route(%[[L:.*]]: memref<9x40xbf16>, %[[I:.*]]: memref<9x2xi32>, %[[W:.*]]: memref<9x2xf32>) kernel attributes {blockscale.purpose = "route"
// CHECK:         %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK:         scf.for %[[COLUMN:.*]] = %[[LANE]] to %c40 step %c32 iter_args(%{{.*}} = %c0_i64)
// CHECK:           memref.load %[[L]][%[[ROW:.*]], %[[COLUMN]]]
// CHECK-COUNT-10: gpu.shuffle {{ *}}xor
// CHECK-NOT:     gpu.shuffle
// CHECK:         scf.for %{{.*}} = %[[LANE]] to %c40 step %c32 iter_args(%{{.*}} = %c0_i64)
// CHECK-COUNT-10: gpu.shuffle {{ *}}xor
// CHECK-NOT:     gpu.shuffle
// The sum of all.
// CHECK:         scf.for %{{.*}} = %[[LANE]] to %c40 step %c32 iter_args(%{{.*}} = %cst)
// CHECK:           math.exp
// CHECK-COUNT-5: gpu.shuffle {{ *}}xor
// CHECK:         %[[WEIGHT:.*]] = arith.divf
// CHECK:         %[[IS_SLOT:.*]] = arith.cmpi ult, %[[LANE]], %c2
// CHECK:         scf.if %[[IS_SLOT]]
// CHECK:           memref.store %{{.*}}, %[[I]][%[[ROW]], %[[LANE]]]
// CHECK:           memref.store %[[WEIGHT]], %[[W]][%[[ROW]], %[[LANE]]]
func.func @main(%l: tensor<9x40xbf16>) -> (tensor<9x2xi32>, tensor<9x2xf32>) {
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>}
      : tensor<9x40xbf16> to tensor<9x2xi32>, tensor<9x2xf32>
  return %i, %w : tensor<9x2xi32>, tensor<9x2xf32>
}

}

// -----

module attributes {blockscale.target = #blockscale.target<sm_80>} {

// The sum of chosen ones needs neither loop nor exchange: all lanes have the keys. Sizes are checked first.

// CHECK-LABEL: func.func @chosen(
// CHECK:         cf.assert {{.*}}expected at least top_k = 2 groups
// CHECK:         blockscale.launch @kernels::@chosen__route
// CHECK:       gpu.func @chosen__route(
// CHECK-COUNT-20: gpu.shuffle {{ *}}xor
// CHECK-NOT:     gpu.shuffle
// CHECK-NOT:     scf.for
// CHECK:         arith.divf
func.func @chosen(%l: tensor<?x?xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax_of_chosen>}
      : tensor<?x?xf32> to tensor<?x2xi32>, tensor<?x2xf32>
  return %i, %w : tensor<?x2xi32>, tensor<?x2xf32>
}

}

// -----

module attributes {blockscale.target = #blockscale.target<sm_80>} {

// One block, with counters for the groups of each warp and for all of them.

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[IDS:[a-z0-9]+]]: tensor<?x2xi64>, %[[G:[a-z0-9]+]]: index)
// CHECK:         cf.assert {{.*}}expected at least 1 group
// CHECK:         cf.assert {{.*}}expected at most 2048 groups
// CHECK:         cf.assert {{.*}}expected less than 2^31 slots
// CHECK:         %[[O:.*]] = tensor.empty(%[[G]]) : tensor<?xi32>
// CHECK:         %[[R:.*]] = tensor.empty(%{{.*}}) : tensor<?xi32>
// CHECK:         %[[P:.*]] = tensor.empty(%{{.*}}) : tensor<?x2xi32>
// CHECK:         %[[ALL:.*]]:3 = blockscale.launch @kernels::@main__sort_routes blocks = [1, 1, 1] threads = [1024, 1, 1] ins(%[[IDS]] : tensor<?x2xi64>) outs(%[[O]], %[[R]], %[[P]] : tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>)
// CHECK:         return %[[ALL]]#0, %[[ALL]]#1, %[[ALL]]#2

// CHECK:       gpu.func @main__sort_routes(
// CHECK-SAME:    workgroup(%[[COUNTERS:.*]] : memref<8192xi32, #gpu.address_space<workgroup>>, %[[STARTS:.*]] : memref<2048xi32, #gpu.address_space<workgroup>>) kernel attributes {blockscale.purpose = "sort_routes"
// CHECK:         memref.store %c0_i32, %[[COUNTERS]]
// CHECK:         gpu.barrier
// CHECK:         scf.for %{{.*}} = %[[FIRST:.*]] to %[[END:.*]] step %c32
// CHECK:           nvvm.match.sync {{ *}}any
// CHECK:           memref.store %{{.*}}, %[[COUNTERS]]
// CHECK:           nvvm.bar.warp.sync
// CHECK:         gpu.barrier
// CHECK:         memref.store %{{.*}}, %[[STARTS]]
// CHECK:         gpu.barrier
// CHECK-COUNT-5: gpu.shuffle {{ *}}up
// CHECK:         gpu.barrier
// CHECK:         scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c32
// CHECK:           nvvm.match.sync {{ *}}any
// CHECK:           memref.load %[[COUNTERS]]
// CHECK:           nvvm.bar.warp.sync
// CHECK:           memref.store %{{.*}}, %[[COUNTERS]]
// CHECK:           nvvm.bar.warp.sync
// CHECK-NOT:     gpu.barrier
func.func @main(%i: tensor<?x2xi64>, %g: index) -> (tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>) {
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<?x2xi64> to tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>
  return %o, %r, %p : tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>
}

}

// -----

// Without a GPU, they stay.

// CHECK-LABEL: func.func @no_gpu(
// CHECK:         blockscale.route
// CHECK:         blockscale.sort_routes
// CHECK-NOT:   gpu.func
func.func @no_gpu(%l: tensor<9x40xf32>) -> (tensor<40xi32>, tensor<18xi32>, tensor<9x2xi32>) {
  %g = arith.constant 40 : index
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<logits>}
      : tensor<9x40xf32> to tensor<9x2xi32>, tensor<9x2xf32>
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<9x2xi32> to tensor<40xi32>, tensor<18xi32>, tensor<9x2xi32>
  return %o, %r, %p : tensor<40xi32>, tensor<18xi32>, tensor<9x2xi32>
}
