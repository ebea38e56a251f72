// Barriers and bulk copies in the NVVM dialect.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --convert-blockscale-to-nvvm --canonicalize -split-input-file | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --convert-blockscale-to-nvvm --canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: gpu.func @barriers(
// CHECK-SAME:    %[[BARRIERS:[a-z0-9]+]]: memref<4xi64, #gpu.address_space<workgroup>>, %[[I:[a-z0-9]+]]: index, %[[PARITY:[a-z0-9]+]]: i32)
// CHECK-DAG:     %[[COUNT:.*]] = arith.constant 33 : i32
// CHECK-DAG:     %[[BYTES:.*]] = arith.constant 4096 : i32
// CHECK-DAG:     %[[TICKS:.*]] = arith.constant 10000000 : i32
// CHECK:         %[[MEMORY:.*]] = builtin.unrealized_conversion_cast %[[BARRIERS]]
// CHECK-NEXT:    %[[BASE:.*]] = llvm.extractvalue %[[MEMORY]][1]
// CHECK-NEXT:    %[[NUMBER:.*]] = arith.index_castui %[[I]] : index to i32
// CHECK-NEXT:    %[[BARRIER:.*]] = llvm.getelementptr %[[BASE]][%[[NUMBER]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
// CHECK-NEXT:    nvvm.mbarrier.init %[[BARRIER]], %[[COUNT]]
// CHECK:         nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3> -> i64
// CHECK:         nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
// CHECK:         nvvm.mbarrier.try_wait.parity %{{.*}}, %[[PARITY]], %[[TICKS]]
!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @barriers(%barriers: !barriers, %i: index, %parity: i32) {
    blockscale.barrier_init %barriers[%i], 33 : !barriers
    blockscale.barrier_arrive %barriers[%i] : !barriers
    blockscale.barrier_arrive %barriers[%i] expect 4096 : !barriers
    blockscale.barrier_wait %barriers[%i], %parity : !barriers
    gpu.return
  }
}

// -----

// The address is one of the cluster without a generic one between; NVVM has
// the innermost coordinate first.

// CHECK-LABEL: gpu.func @copies(
// CHECK-SAME:    %[[MAP:[a-z0-9]+]]: !llvm.ptr, %[[ROW:[a-z0-9]+]]: i32, %[[COLUMN:[a-z0-9]+]]: i32, %[[TILE:[a-z0-9]+]]: memref
// CHECK-DAG:     %[[HINT:.*]] = arith.constant 1364590687093260288 : i64
// CHECK:         %[[TO:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK-NEXT:    %[[ADDRESS:.*]] = llvm.ptrtoint %[[TO]] : !llvm.ptr<3> to i64
// CHECK-NEXT:    %[[CLUSTER:.*]] = llvm.inttoptr %[[ADDRESS]] : i64 to !llvm.ptr<7>
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %[[CLUSTER]], %[[MAP]], %{{.*}}, box[%[[COLUMN]], %[[ROW]]] :
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%[[ROW]]] l2_cache_hint = %[[HINT]] :
!barriers = memref<1xi64, #gpu.address_space<workgroup>>
!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copies(%map: !llvm.ptr, %row: i32, %column: i32, %tile: !tile,
                   %offset: index, %barriers: !barriers, %i: index) {
    blockscale.tensor_load %map[%row, %column] to %tile[%offset],
        %barriers[%i] : !tile, !barriers
    blockscale.tensor_load %map[%row] to %tile[%offset], %barriers[%i]
        hint 1364590687093260288 : !tile, !barriers
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @clusters(
// CHECK-SAME:    %[[RANK:[a-z0-9]+]]: i32, %[[RANKS:[a-z0-9]+]]: i16)
// CHECK:         %[[THERE:.*]] = nvvm.mapa %{{.*}}, %[[RANK]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NEXT:    nvvm.mbarrier.arrive %[[THERE]] : !llvm.ptr<7>
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}} multicast_mask = %[[RANKS]] :
// CHECK:         nvvm.cluster.arrive {aligned}
// CHECK-NEXT:    nvvm.cluster.wait {aligned}
!barriers = memref<1xi64, #gpu.address_space<workgroup>>
!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @clusters(%map: !llvm.ptr, %at: i32, %tile: !tile, %offset: index,
                     %barriers: !barriers, %i: index, %rank: i32,
                     %ranks: i16) {
    blockscale.barrier_arrive %barriers[%i] of %rank : !barriers
    blockscale.tensor_load %map[%at] to %tile[%offset], %barriers[%i]
        blocks %ranks : !tile, !barriers
    blockscale.cluster_barrier
    gpu.return
  }
}
