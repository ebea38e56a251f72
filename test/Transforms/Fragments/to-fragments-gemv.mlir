// GEMV of fp4 elements that become fp8 by shifts and masks only: four instructions
// for a chunk, and the sums of blocks times both scales in f32.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" | FileCheck %s

// CHECK-LABEL: gpu.func @scales_with_mantissa(
// CHECK-SAME:    workgroup(%[[Y:[a-z0-9]+]] : memref<1x64x64xi8, {{[^%]*}}, %[[X:[a-z0-9]+]] : memref<8x8x16xi8, {{[^%]*}}, %[[F:[a-z0-9]+]] : memref<8xi32,
// CHECK-DAG:     %[[SIGNS:.*]] = arith.constant -2139062144 : i32
// CHECK-DAG:     %[[MAGNITUDES:.*]] = arith.constant 471604252 : i32
// CHECK:         vector.load %[[Y]][%c0, %{{.*}}, %{{.*}}] {alignment = 16 : i64}
// CHECK:         vector.load %[[Y]][%c0, %{{.*}}, %{{.*}}] {alignment = 16 : i64}
// CHECK-NOT:     arith.mulf
// CHECK:         arith.andi %{{.*}}, %[[SIGNS]]
// CHECK:         arith.andi %{{.*}}, %[[MAGNITUDES]]
// CHECK-NOT:     arith.mulf
// CHECK:         wgmma.fence.sync.aligned
// The first instruction starts the sums.
// CHECK:         blockscale.matrix_descriptor %[[X]][%c0] layout = <k, slots> wgmma
// CHECK-NEXT:    "{.reg .pred p; setp.ne.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {$0, $1, $2, $3}, {$4, $5, $6, $7}, $8, p, 1, 1;}"
// CHECK:         blockscale.matrix_descriptor %[[X]][%c256]
// CHECK-NEXT:    setp.eq.u32
// CHECK:         blockscale.matrix_descriptor %[[X]][%c512]
// CHECK:         blockscale.matrix_descriptor %[[X]][%c768]
// CHECK:         wgmma.mma_async
// CHECK-NOT:     wgmma.mma_async
// CHECK:         wgmma.wait_group.sync.aligned 0
// CHECK:         vector.load %[[F]][%{{.*}}] {alignment = 8 : i64} : memref<8xi32, {{.*}}>, vector<2xi32>
// CHECK-COUNT-4: llvm.intr.fma
// CHECK-NOT:     llvm.intr.fma
// Lanes of a row add their elements.
// CHECK-COUNT-2: nvvm.shfl.sync idx
gpu.module @kernels {
  gpu.func @scales_with_mantissa(%d: memref<8x64xf32>, %flags: memref<1xi32>, %s: i32)
      workgroup(%y : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
                %x : memref<8x8x16xi8, #gpu.address_space<workgroup>>,
                %f : memref<8xi32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %zero = blockscale.acc_zero : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %parts, %inexact = blockscale.warpgroup_mma_gemv %y, %x, %f, %zero, %none
        scales = %s, %s, %s, %s types = <e2m1, e2m1, ue4m3, 16>
        : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
          memref<8x8x16xi8, #gpu.address_space<workgroup>>,
          memref<8xi32, #gpu.address_space<workgroup>>,
          !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %sums = blockscale.acc_total %parts : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    memref.store %inexact, %flags[%c0] : memref<1xi32>
    blockscale.acc_store %sums, %d[%c0, %c0]
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>>, memref<8x64xf32>
    gpu.return
  }
}
