// Lanes of a row exchange elements, until each has columns that are side by side: first those of
// fragments next to each other with the lane next to it, then those of fragments two apart.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" | FileCheck %s

// CHECK-LABEL: gpu.func @quads(
// CHECK:         %[[LANE:.*]] = gpu.lane_id
// CHECK:         %[[BIT:.*]] = arith.remui %[[LANE]], %c2
// CHECK:         %[[ODD:.*]] = arith.cmpi eq, %[[BIT]], %c1
// CHECK:         %[[SENT:.*]] = arith.select %[[ODD]], %[[FIRST:.*]], %[[SECOND:.*]] : f32
// CHECK-NEXT:    %[[GOT:.*]], %{{.*}} = gpu.shuffle {{ *}}xor %[[SENT]], %c1_i32, %c32_i32 : f32
// CHECK-NEXT:    arith.select %[[ODD]], %[[GOT]], %[[FIRST]] : f32
// CHECK-NEXT:    arith.select %[[ODD]], %[[SECOND]], %[[GOT]] : f32
// CHECK-COUNT-7: gpu.shuffle {{ *}}xor {{.*}}, %c1_i32
// CHECK-COUNT-8: gpu.shuffle {{ *}}xor {{.*}}, %c2_i32
// CHECK-NOT:     gpu.shuffle
// CHECK-COUNT-2: vector.store {{.*}} vector<8xf32>
// CHECK-NOT:     vector.store
gpu.module @kernels {
  gpu.func @quads(%d: memref<64x32xf32> {llvm.align = 16 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_load %d[%c0, %c0] in_bounds
        : memref<64x32xf32> -> !blockscale.acc<64x32, #blockscale.warps<4x1>>
    %runs = blockscale.acc_interleave %acc
        : !blockscale.acc<64x32, #blockscale.warps<4x1>>
        -> !blockscale.acc<64x32, #blockscale.warps<4x1, interleave = 1x4>>
    blockscale.acc_store %runs, %d[%c0, %c0] in_bounds
        : !blockscale.acc<64x32, #blockscale.warps<4x1, interleave = 1x4>>, memref<64x32xf32>
    gpu.return
  }
}
