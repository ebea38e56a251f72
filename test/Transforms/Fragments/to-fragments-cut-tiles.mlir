// A tile that may extend beyond its memory: the reads for all elements of a lane
// come before the stores, without branches, at the last element for those
// outside.

// RUN: blockscale-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(blockscale-to-fragments)))' | FileCheck %s

// CHECK-LABEL: gpu.func @add(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?xf32>, %[[R:[a-z0-9]+]]: memref<?x?xf32>
// CHECK:         %[[IN_0:.*]] = arith.andi
// CHECK:         %[[M_0:.*]] = arith.minui
// CHECK-NEXT:    %[[N_0:.*]] = arith.minui
// CHECK-NEXT:    %[[READ:.*]] = memref.load %[[X]][%[[M_0]], %[[N_0]]]
// CHECK-NEXT:    %[[SUM_0:.*]] = arith.addf %{{.*}}, %[[READ]]
// CHECK-COUNT-3: memref.load %[[X]]
// CHECK-NOT:     memref.load
// CHECK:         scf.if %[[IN_0]] {
// CHECK-NEXT:      memref.store %[[SUM_0]], %[[R]][%{{.*}}, %{{.*}}]
// CHECK-COUNT-3: memref.store %{{.*}}, %[[R]]

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
