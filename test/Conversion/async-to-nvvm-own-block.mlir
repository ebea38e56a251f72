// Bulk copies on chips without copies to other blocks: the destination is
// an address of the block's own shared memory.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --convert-blockscale-to-nvvm --canonicalize | FileCheck %s

// CHECK-LABEL: gpu.func @copies(
// CHECK-SAME:    %[[MAP:[a-z0-9]+]]: !llvm.ptr, %[[ROW:[a-z0-9]+]]: i32, %[[COLUMN:[a-z0-9]+]]: i32, %[[TILE:[a-z0-9]+]]: memref
// CHECK-DAG:     %[[HINT:.*]] = arith.constant 1364590687093260288 : i64
// CHECK:         %[[TO:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK-NOT:     llvm.ptrtoint %[[TO]]
// CHECK:         nvvm.inline_ptx "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];"
// CHECK-SAME:      (%[[TO]], %[[MAP]], %[[COLUMN]], %[[ROW]], %{{.*}} : !llvm.ptr<3>,
// CHECK:         nvvm.inline_ptx "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [$0], [$1, {$2}], [$3], $4;"
// CHECK-SAME:      (%{{.*}}, %[[MAP]], %[[ROW]], %{{.*}}, %[[HINT]] :

// By an elected thread, with its predicate.

// CHECK:         %[[ELECTED:.*]] = nvvm.elect.sync
// CHECK-NOT:     scf.if
// CHECK:         nvvm.inline_ptx "cp.async.bulk.tensor.1d{{.*}}, predicate = %[[ELECTED]]
!barriers = memref<1xi64, #gpu.address_space<workgroup>>
!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copies(%map: !llvm.ptr, %row: i32, %column: i32, %tile: !tile,
                   %offset: index, %barriers: !barriers, %i: index) {
    blockscale.tensor_load %map[%row, %column] to %tile[%offset],
        %barriers[%i] : !tile, !barriers
    blockscale.tensor_load %map[%row] to %tile[%offset], %barriers[%i]
        hint 1364590687093260288 : !tile, !barriers
    %elected = nvvm.elect.sync -> i1
    scf.if %elected {
      blockscale.tensor_load %map[%row] to %tile[%offset], %barriers[%i]
          : !tile, !barriers
    }
    gpu.return
  }
}
