// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --convert-blockscale-to-nvvm --canonicalize | FileCheck %s

// A sparse A: the instruction and the copy of its metadata, with branches and without. PTX counts kept elements of a
// block. The descriptor has bit 2: 144703492 is 0x08A00004, 136316036 is 0x08200484.

// CHECK-LABEL: gpu.func @sparse(
// CHECK-DAG:     %[[C_BYTES:.*]] = arith.constant 144703492 : i32
// CHECK-DAG:     %[[C_PAIRS:.*]] = arith.constant 136316036 : i32
// CHECK:         nvvm.tcgen05.cp %{{.*}}, %{{.*}} {{.*}}group = #nvvm.cta_group<cta_2>{{.*}}shape = #nvvm.tcgen05_cp_shape<shape_128x128b>
// CHECK:         nvvm.tcgen05.mma.sp.block_scale %{{.*}} {blockScale = #nvvm.tcgen05_mma_block_scale<block32>, ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.block_scale_kind<mxf8f6f4>} : (!llvm.ptr<6>, i64, i64, i32, i1, !llvm.ptr<6>, !llvm.ptr<6>, !llvm.ptr<6>)
// CHECK:         nvvm.tcgen05.mma.sp.block_scale %{{.*}} {blockScale = #nvvm.tcgen05_mma_block_scale<block16>, ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.block_scale_kind<mxf4nvf4>}
// CHECK:         %[[ELECTED:.*]] = nvvm.elect.sync -> i1
// CHECK:         nvvm.inline_ptx "tcgen05.cp.cta_group::1.128x128b [$0], $1;" {{.*}} predicate = %[[ELECTED]]
// CHECK:         nvvm.inline_ptx "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.block32 [$0], $1, $2, [$4], $3, [$5], [$6], $7;" ro({{.*}} : i32, i64, i64, i32, i32, i32, i32, i1), predicate = %[[ELECTED]]
!acc = !blockscale.tmem_acc<128x128>
!s4 = !blockscale.tmem_scales<128x4>
!e = !blockscale.tmem_metadata<128x32>
gpu.module @kernels {
  gpu.func @sparse(%acc: !acc, %s: !s4, %e: !e, %a: i64, %b: i64, %more: i1,
                   %m: memref<4096xi8, #gpu.address_space<workgroup>>, %at: index) {
    blockscale.copy_metadata %m[%at], %e {atom = 1 : i64, group = 2 : i64}
        : memref<4096xi8, #gpu.address_space<workgroup>>, !e
    blockscale.tcgen05_mma <tcgen05, 128x128x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
        %acc, %a, %b, %s[0], %s[0], %more metadata %e[1] : !acc, i64, !s4, !s4, !e
    blockscale.tcgen05_mma <tcgen05, 128x128x128, mxf4nvf4, e2m1, e2m1, ue4m3, 4, pairs>
        %acc, %a, %b, %s[0], %s[0], %more metadata %e[0] : !acc, i64, !s4, !s4, !e
    %elected = nvvm.elect.sync -> i1
    scf.if %elected {
      blockscale.copy_metadata %m[%at], %e {atom = 0 : i64}
          : memref<4096xi8, #gpu.address_space<workgroup>>, !e
      blockscale.tcgen05_mma <tcgen05, 128x128x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
          %acc, %a, %b, %s[0], %s[0], %more metadata %e[0] : !acc, i64, !s4, !s4, !e
    }
    gpu.return
  }
}
