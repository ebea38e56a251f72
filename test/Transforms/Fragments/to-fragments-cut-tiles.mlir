// A tile that may extend beyond its memory: the reads for two elements come
// before the stores of both.

// RUN: blockscale-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(blockscale-to-fragments)))' | FileCheck %s

// CHECK-LABEL: gpu.func @add(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?xf32>, %[[R:[a-z0-9]+]]: memref<?x?xf32>
// CHECK:         %[[IN_0:.*]] = arith.andi
// CHECK:         %[[SUM_0:.*]] = scf.if %[[IN_0]] -> (f32) {
// CHECK:           %[[READ:.*]] = memref.load %[[X]][%[[M_0:.*]], %[[N_0:.*]]]
// CHECK:           %[[ADDED:.*]] = arith.addf %{{.*}}, %[[READ]]
// CHECK:           scf.yield %[[ADDED]]
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %{{.*}} : f32
// CHECK:         %[[IN_1:.*]] = arith.andi
// CHECK:         %[[SUM_1:.*]] = scf.if %[[IN_1]] -> (f32) {
// CHECK:           memref.load %[[X]][%[[M_1:.*]], %[[N_1:.*]]]
// CHECK:         scf.if %[[IN_0]] {
// CHECK-NEXT:      memref.store %[[SUM_0]], %[[R]][%[[M_0]], %[[N_0]]]
// CHECK:         scf.if %[[IN_1]] {
// CHECK-NEXT:      memref.store %[[SUM_1]], %[[R]][%[[M_1]], %[[N_1]]]
// CHECK:         scf.if %{{.*}} -> (f32) {

// Without reads there is one branch for each element.

// CHECK-LABEL: gpu.func @negate(
// CHECK-NOT:     -> (f32)
// CHECK-COUNT-4: memref.store
// CHECK:         gpu.return
gpu.module @kernels {
  gpu.func @add(%x: memref<?x?xf32>, %r: memref<?x?xf32>, %m: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) {
    ^bb0(%sum: f32, %i: index, %j: index):
      %first = memref.load %x[%i, %j] : memref<?x?xf32>
      %all = arith.addf %sum, %first : f32
      memref.store %all, %r[%i, %j] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    gpu.return
  }

  gpu.func @negate(%r: memref<?x?xf32>, %m: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) {
    ^bb0(%sum: f32, %i: index, %j: index):
      %negated = arith.negf %sum : f32
      memref.store %negated, %r[%i, %j] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    gpu.return
  }
}
