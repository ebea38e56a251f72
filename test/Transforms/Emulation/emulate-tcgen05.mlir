// RUN: blockscale-opt %s --blockscale-emulate-tcgen05 | FileCheck %s

// The target becomes the chip that runs the code.
// CHECK: blockscale.target = #blockscale.target<sm_90a>
module attributes {
    blockscale.target = #blockscale.target<sm_100a, emulated_on = sm_90a>} {
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @shared(
  // CHECK-SAME: %[[ADDRESS:.*]]: !llvm.ptr<6>, %[[WORD:.*]]: i64, %[[BARRIER:.*]]: !llvm.ptr<3>)
  gpu.func @shared(%address: !llvm.ptr<6>, %descriptor: i64, %barrier: !llvm.ptr<3>) {
    // CHECK: %[[ELECTED:.*]] = nvvm.elect.sync
    %elected = nvvm.elect.sync -> i1
    // CHECK: %[[BALLOT:.*]] = nvvm.vote.sync ballot %{{.*}}, %[[ELECTED]]
    // CHECK: %[[LEADER:.*]] = "llvm.intr.cttz"(%[[BALLOT]])
    // CHECK-NOT: scf.if
    scf.if %elected {
      // CHECK: %[[OWN:.*]] = llvm.ptrtoint %[[ADDRESS]]
      // CHECK: %[[OF_LEADER:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[OWN]], %[[LEADER]],
      // CHECK: nvvm.bar.warp.sync
      // CHECK: %[[LANE:.*]] = gpu.lane_id
      // CHECK: %[[NUMBER:.*]] = arith.index_cast %[[LANE]]
      // CHECK: %[[ALL:.*]] = arith.constant 32 : i32
      // CHECK: call @emulated_tcgen05_cp_32x128b(%[[OF_LEADER]], %{{.*}}, %[[NUMBER]], %[[ALL]])
      // CHECK: nvvm.fence.proxy
      // CHECK: nvvm.bar.warp.sync
      nvvm.tcgen05.cp %address, %descriptor
          {multicast = #nvvm.tcgen05_cp_multicast<warpx4>,
           shape = #nvvm.tcgen05_cp_shape<shape_32x128b>}
      // CHECK: scf.if %[[ELECTED]] {
      // CHECK-NEXT: llvm.fence syncscope("block") acq_rel
      // CHECK-NEXT: nvvm.mbarrier.arrive %[[BARRIER]]
      // CHECK-NEXT: }
      nvvm.tcgen05.commit %barrier : !llvm.ptr<3>
    }
    // CHECK: gpu.return
    gpu.return
  }

  // One thread works alone if others may be absent, or if they cannot execute the rest.
  // CHECK-LABEL: gpu.func @alone(
  gpu.func @alone(%is_mine: i1, %d: !llvm.ptr<6>, %a: i64, %word: i32, %out: !llvm.ptr<1>) {
    %true = arith.constant true
    // CHECK: scf.if
    scf.if %is_mine {
      // CHECK: %[[FIRST:.*]] = arith.constant 0 : i32
      // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
      // CHECK: call @emulated_tcgen05_mma_mxf4nvf4_block16({{.*}}, %[[FIRST]], %[[ONE]])
      nvvm.tcgen05.mma.block_scale %d, %a, %a, %word, %true, %d, %d
          {blockScale = #nvvm.tcgen05_mma_block_scale<block16>,
           collectorOp = #nvvm.tcgen05_mma_collectorop<discard>,
           ctaGroup = #nvvm.cta_group<cta_1>,
           kind = #nvvm.block_scale_kind<mxf4nvf4>}
          : (!llvm.ptr<6>, i64, i64, i32, i1, !llvm.ptr<6>, !llvm.ptr<6>)
    }
    // CHECK: nvvm.elect.sync
    // CHECK-NOT: nvvm.vote
    %elected = nvvm.elect.sync -> i1
    // CHECK: scf.if
    scf.if %elected {
      // CHECK: llvm.store
      llvm.store %word, %out : i32, !llvm.ptr<1>
      // CHECK: call @emulated_tcgen05_mma_mxf4nvf4_block16(
      nvvm.tcgen05.mma.block_scale %d, %a, %a, %word, %true, %d, %d
          {blockScale = #nvvm.tcgen05_mma_block_scale<block16>,
           collectorOp = #nvvm.tcgen05_mma_collectorop<discard>,
           ctaGroup = #nvvm.cta_group<cta_1>,
           kind = #nvvm.block_scale_kind<mxf4nvf4>}
          : (!llvm.ptr<6>, i64, i64, i32, i1, !llvm.ptr<6>, !llvm.ptr<6>)
    }
    gpu.return
  }
  // One function for both.
  // CHECK: func.func private @emulated_tcgen05_mma_mxf4nvf4_block16(
  // CHECK-NOT: func.func
}
}
