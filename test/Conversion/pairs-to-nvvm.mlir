// Ops of pairs of CTAs and of clusters in the NVVM dialect.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --convert-blockscale-to-nvvm --canonicalize -split-input-file | FileCheck %s

// Copies of a pair are counted at the mbarrier of the even CTA, whose rank is bit 24
// of an address. The NVVM op ignores the CTA group if it has a predicate.

// CHECK-LABEL: gpu.func @copies(
// CHECK-SAME:    %[[MAP:[a-z0-9]+]]: !llvm.ptr, %[[ROW:[a-z0-9]+]]: i32, %[[COLUMN:[a-z0-9]+]]: i32, %[[TILE:[a-z0-9]+]]: memref
// CHECK-SAME:    %[[BLOCKS:[a-z0-9]+]]: i16
// CHECK-DAG:     %[[EVEN:.*]] = arith.constant -16777217 : i32
// CHECK:         %[[ADDRESS:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
// CHECK-NEXT:    %[[LEADER:.*]] = llvm.and %[[ADDRESS]], %[[EVEN]]
// CHECK:         nvvm.inline_ptx "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [$0], [$1, {$2, $3}], [$4];" ro(%{{.*}}, %[[MAP]], %[[COLUMN]], %[[ROW]], %{{.*}} : !llvm.ptr<7>, !llvm.ptr, i32, i32, i32)
// CHECK:         nvvm.inline_ptx "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2.L2::cache_hint [$0], [$1, {$2, $3}], [$4], $5, $6;" ro({{.*}}, %[[BLOCKS]], %{{.*}} : {{.*}}, i16, i64)
!barriers = memref<4xi64, #gpu.address_space<workgroup>>
!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copies(%map: !llvm.ptr, %row: i32, %column: i32, %tile: !tile, %barriers: !barriers, %blocks: i16) {
    %c0 = arith.constant 0 : index
    blockscale.tensor_load %map[%row, %column] to %tile[%c0], %barriers[%c0] {group = 2 : i64} : !tile, !barriers
    blockscale.tensor_load %map[%row, %column] to %tile[%c0], %barriers[%c0] blocks %blocks hint 1 {group = 2 : i64} : !tile, !barriers
    gpu.return
  }
}

// -----

// Only threads that read data of other blocks use the scope of the cluster.

// CHECK-LABEL: gpu.func @barriers(
// CHECK-SAME:    %[[BARRIERS:[a-z0-9]+]]: memref<4xi64, #gpu.address_space<workgroup>>, %[[BLOCK:[a-z0-9]+]]: i32, %[[PARITY:[a-z0-9]+]]: i32)
// CHECK-DAG:     %[[TICKS:.*]] = arith.constant 10000000 : i32
// CHECK:         %[[MAPPED:.*]] = nvvm.mapa %{{.*}}, %[[BLOCK]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NEXT:    nvvm.mbarrier.arrive %[[MAPPED]] {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
// CHECK:         nvvm.inline_ptx "{{.*}}mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P1, [$0], $1, $2; {{.*}}" ro(%{{.*}}, %[[PARITY]], %[[TICKS]] : i32, i32, i32)
!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @barriers(%barriers: !barriers, %block: i32, %parity: i32) {
    %c1 = arith.constant 1 : index
    blockscale.barrier_arrive %barriers[%c1] of %block cluster : !barriers
    blockscale.barrier_wait %barriers[%c1], %parity cluster : !barriers
    gpu.return
  }
}

// -----

// Commits to several blocks have their mask in a register.

// CHECK-LABEL: gpu.func @commits(
// CHECK-SAME:    %[[BLOCKS:[a-z0-9]+]]: i16)
// CHECK-DAG:     %[[ALL:.*]] = arith.constant 3 : i16
// CHECK:         nvvm.tcgen05.commit %{{.*}}, multicast_mask = %[[BLOCKS]] {group = #nvvm.cta_group<cta_2>} : !llvm.ptr<3>, i16
// CHECK:         %[[MASK:.*]] = llvm.inline_asm "mov.b16 $0, $1;", "=h,h" %[[ALL]] : (i16) -> i16
// CHECK:         nvvm.tcgen05.commit %{{.*}}, multicast_mask = %[[MASK]] : !llvm.ptr<3>, i16
!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @commits(%barriers: !barriers, %blocks: i16) {
    %c0 = arith.constant 0 : index
    %all = arith.constant 3 : i16
    blockscale.tcgen05_commit %barriers[%c0] blocks %blocks {group = 2 : i64} : !barriers
    blockscale.tcgen05_commit %barriers[%c0] blocks %all : !barriers
    gpu.return
  }
}

// -----

// Two atoms of scales at a time, each to half of the lanes.

// CHECK-LABEL: gpu.func @scales(
// CHECK:         nvvm.tcgen05.cp %{{.*}}, %{{.*}} {group = #nvvm.cta_group<cta_2>, multicast = #nvvm.tcgen05_cp_multicast<warpx2_01_23>, shape = #nvvm.tcgen05_cp_shape<shape_64x128b>}
!atoms = memref<2x512xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<256x4, copies = 2>
gpu.module @kernels {
  gpu.func @scales(%atoms: !atoms, %scales: !scales) {
    %c0 = arith.constant 0 : index
    blockscale.copy_scales %atoms[%c0], %scales {group = 2 : i64, row_atom = 0 : i64, word = 0 : i64} : !atoms, !scales
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @memory(
// CHECK-SAME:    %[[BLOCK:[a-z0-9]+]]: i32
// CHECK:         %[[MAPPED:.*]] = nvvm.mapa %{{.*}}, %[[BLOCK]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK:         llvm.insertvalue %[[MAPPED]], %{{.*}}[1]
!own = memref<32xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @memory(%block: i32, %own: !own) {
    %c0 = arith.constant 0 : index
    %code = arith.constant 1 : i8
    %other = blockscale.block_memory %own of %block : !own to memref<32xi8, 7>
    memref.store %code, %other[%c0] : memref<32xi8, 7>
    gpu.return
  }
}
