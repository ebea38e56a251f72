// Products of warpgroups: each lane has its accumulator registers, which each instruction
// reads and writes, in the order of tiles of 8 columns.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" | FileCheck %s

// Rows 64 to 127 of A, 8192 bytes further, are the second warpgroup's. Lanes
// take the number of the warpgroup from one of them: it is uniform. Steps
// along K are 32 bytes of swizzle rows of A, and 16 swizzle rows of B.

// CHECK-LABEL: gpu.func @product(
// CHECK-SAME:    workgroup(%[[A:[a-z0-9]+]] : memref<128x128xi8, {{[^%]*}}, %[[B:[a-z0-9]+]] : memref<1x64x32xi8,
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[THREAD:.*]] = gpu.thread_id x
// CHECK:         %[[NUMBER:.*]] = arith.divui %[[THREAD]], %c128
// CHECK:         %[[WORD:.*]] = arith.index_castui %[[NUMBER]] : index to i32
// CHECK:         %[[FIRST:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[WORD]], %{{.*}}, %{{.*}} : i32 -> i32
// CHECK:         %[[GROUP:.*]] = arith.index_castui %[[FIRST]] : i32 to index
// CHECK:         %[[ROWS:.*]] = arith.muli %[[GROUP]], %c8192
// CHECK:         %[[FENCE:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}" %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : (f32, f32, f32, f32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
// CHECK-NEXT:    %[[SUM_0:.*]] = llvm.extractvalue %[[FENCE]][0]
// CHECK:         %[[SUM_7:.*]] = llvm.extractvalue %[[FENCE]][7]
// CHECK-NEXT:    %[[X:.*]] = blockscale.matrix_descriptor %[[A]][%[[ROWS]]] layout = <k, slots, swizzled> wgmma
// CHECK-NEXT:    %[[Y:.*]] = blockscale.matrix_descriptor %[[B]][%c0] layout = <mn, slots, swizzled> wgmma
// CHECK-NEXT:    %[[STEP:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "{.reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7}, $8, $9, p, 1, 1, 0, 1;}", "=f,=f,=f,=f,=f,=f,=f,=f,l,l,0,1,2,3,4,5,6,7,~{memory}" %[[X]], %[[Y]], %[[SUM_0]], {{.*}}, %[[SUM_7]] :
// CHECK:         %[[AT:.*]] = arith.addi %[[ROWS]], %c32
// CHECK-NEXT:    %[[X_1:.*]] = blockscale.matrix_descriptor %[[A]][%[[AT]]]
// CHECK-NEXT:    %[[Y_1:.*]] = blockscale.matrix_descriptor %[[B]][%c512]
// CHECK-NEXT:    llvm.inline_asm {{.*}} %[[X_1]], %[[Y_1]],
// CHECK:         blockscale.matrix_descriptor %[[B]][%c1536]
// CHECK:         %[[LAST:.*]] = llvm.inline_asm {{.*}}wgmma.mma_async
// CHECK-NOT:     wgmma.mma_async
// CHECK:         nvvm.wgmma.commit.group.sync.aligned
// CHECK:         %[[WAIT:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
// CHECK:         %[[SUM:.*]] = llvm.extractvalue %[[WAIT]][0]
// CHECK:         vector.store
gpu.module @kernels {
  gpu.func @product(%d: memref<128x16xf32> {llvm.align = 16 : i64})
      workgroup(%a : memref<128x128xi8, #gpu.address_space<workgroup>>,
                %b : memref<1x64x32xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %zero = blockscale.acc_zero : !blockscale.acc<128x16, #blockscale.warps<8x1>>
    %product = blockscale.warpgroup_mma %a, %b, %zero
        instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
        layouts = <k, slots, swizzled>, <mn, slots, swizzled>
        : memref<128x128xi8, #gpu.address_space<workgroup>>,
          memref<1x64x32xi8, #gpu.address_space<workgroup>>,
          !blockscale.acc<128x16, #blockscale.warps<8x1>>
    %sums = blockscale.warpgroup_wait %product pending = 0
        : !blockscale.acc<128x16, #blockscale.warps<8x1>>
    blockscale.acc_store %sums, %d[%c0, %c0] in_bounds
        : !blockscale.acc<128x16, #blockscale.warps<8x1>>, memref<128x16xf32>
    gpu.return
  }
}
