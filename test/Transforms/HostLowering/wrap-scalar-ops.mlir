// Ops without parallel loops get one of one iteration.

// RUN: blockscale-opt %s --blockscale-wrap-scalar-ops | FileCheck %s
// RUN: blockscale-opt %s --blockscale-wrap-scalar-ops --convert-linalg-to-parallel-loops --blockscale-flatten-parallel-loops --canonicalize | FileCheck %s --check-prefix=LAUNCH

// CHECK-DAG:   #[[$FROM:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG:   #[[$TO:.*]] = affine_map<(d0, d1) -> (d0)>

// The example of the pass' description.

// CHECK-LABEL:  func @negate(
// CHECK-SAME:     %[[X:.*]]: memref<f32>, %[[R:.*]]: memref<f32>)
// CHECK:          %[[C0:.*]] = arith.constant 0 : index
// CHECK:          %[[C1:.*]] = arith.constant 1 : index
// CHECK:          scf.parallel (%{{.*}}) = (%[[C0]]) to (%[[C1]]) step (%[[C1]]) {
// CHECK-NEXT:       linalg.map { arith.negf } ins(%[[X]] : memref<f32>) outs(%[[R]] : memref<f32>)
// CHECK:          return
// LAUNCH-LABEL: func @negate(
// LAUNCH:         gpu.launch
// LAUNCH:           memref.load %{{.*}}[] : memref<f32>
// LAUNCH:           memref.store %{{.*}}[] : memref<f32>
// LAUNCH-NEXT:      gpu.terminator
func.func @negate(%x: memref<f32>, %r: memref<f32>) {
  linalg.map { arith.negf } ins(%x : memref<f32>) outs(%r : memref<f32>)
  return
}

// CHECK-LABEL:  func @sum(
// CHECK:          scf.parallel
// CHECK-NEXT:       linalg.reduce
// LAUNCH-LABEL: func @sum(
// LAUNCH:         gpu.launch
// LAUNCH:           scf.for
// LAUNCH:         gpu.terminator
func.func @sum(%x: memref<8xf32>, %r: memref<f32>) {
  linalg.reduce { arith.addf } ins(%x : memref<8xf32>) outs(%r : memref<f32>) dimensions = [0]
  return
}

// Parallel loops go to the front.

// CHECK-LABEL:  func @columns(
// CHECK:          linalg.generic {indexing_maps = [#[[$FROM]], #[[$TO]]], iterator_types = ["parallel", "reduction"]}
// LAUNCH-LABEL: func @columns(
// LAUNCH-NOT:     scf.for
// LAUNCH:         scf.parallel
// LAUNCH:           scf.for
func.func @columns(%x: memref<8x5xf32>, %r: memref<5xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8x5xf32>) outs(%r : memref<5xf32>) {
  ^bb0(%e: f32, %sum: f32):
    %0 = arith.addf %sum, %e : f32
    linalg.yield %0 : f32
  }
  return
}

// Nothing is to be done: a parallel loop of its own, tensors, loops around.

// CHECK-LABEL:  func @stay(
// CHECK-NOT:      scf.parallel
// LAUNCH-LABEL: func @stay(
// LAUNCH:         gpu.launch
// LAUNCH:           memref.store %{{.*}}[%{{.*}}, %{{.*}}] : memref<1x1xf32>
// LAUNCH-NEXT:      gpu.terminator
// LAUNCH:         scf.for
func.func @stay(%x: memref<1x1xf32>, %r: memref<1x1xf32>, %s: memref<f32>, %t: tensor<f32>, %n: index) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  linalg.map { arith.negf } ins(%x : memref<1x1xf32>) outs(%r : memref<1x1xf32>)
  scf.for %i = %c0 to %n step %c1 {
    linalg.map { arith.negf } ins(%s : memref<f32>) outs(%s : memref<f32>)
  }
  %u = linalg.map { arith.negf } ins(%t : tensor<f32>) outs(%t : tensor<f32>)
  return %u : tensor<f32>
}
