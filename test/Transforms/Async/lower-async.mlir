// Roles become branches on the warp index, and products of tiles
// become instructions.

// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(gpu.func(blockscale-lower-async,canonicalize)))' -split-input-file | FileCheck %s

// The index comes from a shuffle, which makes it uniform. Warps
// after those of the regions do nothing.

// CHECK-LABEL: gpu.func @roles(
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i32
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : i32
// CHECK:         %[[THREAD:.*]] = arith.index_castui %thread_id_x : index to i32
// CHECK-NEXT:    %[[NUMBER:.*]] = arith.shrui %[[THREAD]], %[[C5]] : i32
// CHECK-NEXT:    %[[WARP:.*]] = nvvm.shfl.sync  idx %{{.*}}, %[[NUMBER]],
// CHECK-NEXT:    %[[IS_FIRST:.*]] = arith.cmpi ult, %[[WARP]], %[[C4]] : i32
// CHECK-NEXT:    scf.if %[[IS_FIRST]] {
// CHECK-NEXT:      memref.store %[[C1]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[IS_SECOND:.*]] = arith.cmpi ult, %[[WARP]], %[[C5]] : i32
// CHECK-NEXT:      scf.if %[[IS_SECOND]] {
// CHECK-NEXT:        memref.store %[[C2]]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.barrier
gpu.module @kernels {
  gpu.func @roles(%out: memref<4xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    blockscale.roles warps = [4, 1] {
      memref.store %c1, %out[%c0] : memref<4xi32>
    }, {
      memref.store %c2, %out[%c0] : memref<4xi32>
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// K of the tile is two instructions. Along K each starts 32 bytes further in
// its swizzle rows, along N 32 rows further, which have 32 bytes. The first one
// overwrites if the op does, the next one accumulates.

// CHECK-LABEL: gpu.func @steps(
// CHECK-SAME:    %[[MORE:[a-z0-9]+]]: i1)
// CHECK-DAG:     %[[TRUE:.*]] = arith.constant true
// CHECK-DAG:     %[[C_0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C_32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[C_1024:.*]] = arith.constant 1024 : index
// CHECK:         %[[A_0:.*]] = blockscale.matrix_descriptor %[[A:.*]][%[[C_0]]] layout = <k, slots, swizzled>
// CHECK-NEXT:    %[[B_0:.*]] = blockscale.matrix_descriptor %[[B:.*]][%[[C_0]]] layout = <mn, slots, swizzled>
// CHECK-NEXT:    blockscale.tcgen05_mma {{.*}} %{{.*}}, %[[A_0]], %[[B_0]], %{{.*}}[0], %{{.*}}[0], %[[MORE]] {transpose_b}
// CHECK-NEXT:    %[[A_1:.*]] = blockscale.matrix_descriptor %[[A]][%[[C_32]]]
// CHECK-NEXT:    %[[B_1:.*]] = blockscale.matrix_descriptor %[[B]][%[[C_1024]]]
// CHECK-NEXT:    blockscale.tcgen05_mma {{.*}} %{{.*}}, %[[A_1]], %[[B_1]], %{{.*}}[1], %{{.*}}[1], %[[TRUE]] {transpose_b}
// CHECK-NEXT:    gpu.return
!a = memref<128x64xi8, #gpu.address_space<workgroup>>
!b = memref<2x64x32xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
gpu.module @kernels {
  gpu.func @steps(%a: !a, %s: !scales, %b: !b,
                  %acc: !blockscale.tmem_acc<128x64>, %more: i1) {
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
        instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
        layouts = <k, slots, swizzled>, <mn, slots, swizzled>
        : !a, !scales, !b, !scales, !blockscale.tmem_acc<128x64>
    gpu.return
  }
}

// -----

// Blocks of 16: an instruction has four. Without a swizzle, rows of 16
// bytes are columns side by side, and an instruction reads two of them.

// CHECK-LABEL: gpu.func @columns(
// CHECK-DAG:     %[[C_32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[C_2048:.*]] = arith.constant 2048 : index
// CHECK:         blockscale.tcgen05_mma {{.*}}[0], %{{.*}}[0], %{{.*}} :
// CHECK:         blockscale.matrix_descriptor %{{.*}}[%[[C_32]]] layout = <k, slots, swizzled>
// CHECK-NEXT:    blockscale.matrix_descriptor %{{.*}}[%[[C_2048]]] layout = <k, slots>
// CHECK-NEXT:    blockscale.tcgen05_mma {{.*}}[4], %{{.*}}[4], %{{.*}} :
!a = memref<128x64xi8, #gpu.address_space<workgroup>>
!b = memref<4x64x16xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x8>
gpu.module @kernels {
  gpu.func @columns(%a: !a, %s: !scales, %b: !b,
                    %acc: !blockscale.tmem_acc<128x64>, %more: i1) {
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
        instruction = <tcgen05, 128x64x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
        layouts = <k, slots, swizzled>, <k, slots>
        : !a, !scales, !b, !scales, !blockscale.tmem_acc<128x64>
    gpu.return
  }
}

// -----

// Only the first `steps` instructions are executed.

// CHECK-LABEL: gpu.func @some(
// CHECK-SAME:    %[[STEPS:[a-z0-9]+]]: index)
// CHECK-DAG:     %[[C_1:.*]] = arith.constant 1 : index
// CHECK:         %[[IS_0:.*]] = arith.cmpi {{.*}}%[[STEPS]], %{{.*}} : index
// CHECK:         scf.if %[[IS_0]] {
// CHECK:           blockscale.tcgen05_mma
// CHECK:         %[[IS_1:.*]] = arith.cmpi {{.*}}%[[STEPS]], %[[C_1]] : index
// CHECK:         scf.if %[[IS_1]] {
// CHECK:           blockscale.tcgen05_mma
!a = memref<128x64xi8, #gpu.address_space<workgroup>>
!b = memref<64x64xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
gpu.module @kernels {
  gpu.func @some(%a: !a, %s: !scales, %b: !b,
                 %acc: !blockscale.tmem_acc<128x64>, %more: i1,
                 %steps: index) {
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more steps %steps
        instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
        layouts = <k, slots, swizzled>, <k, slots, swizzled>
        : !a, !scales, !b, !scales, !blockscale.tmem_acc<128x64>
    gpu.return
  }
}

// -----

// A swizzle row of packed fp4 with two CTAs: two instructions with K = 96, from bytes 0 and
// 48 and from blocks 0 and 6 on, and one with 64.

// CHECK-LABEL: gpu.func @wide(
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[SECOND:.*]] = arith.constant 48 : index
// CHECK-DAG:     %[[LAST:.*]] = arith.constant 96 : index
// CHECK:         blockscale.matrix_descriptor %{{.*}}[%[[FIRST]]]
// CHECK:         blockscale.tcgen05_mma <tcgen05, 256x128x96, mxf4nvf4, e2m1, e2m1, ue4m3, 6> %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}[0], %{{.*}}[0], %{{.*}} {group = 2 : i64}
// CHECK:         blockscale.matrix_descriptor %{{.*}}[%[[SECOND]]]
// CHECK:         blockscale.tcgen05_mma <tcgen05, 256x128x96, mxf4nvf4, e2m1, e2m1, ue4m3, 6> %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}[6], %{{.*}}[6], %{{.*}} {group = 2 : i64}
// CHECK:         blockscale.matrix_descriptor %{{.*}}[%[[LAST]]]
// CHECK:         blockscale.tcgen05_mma <tcgen05, 256x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4> %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}[12], %{{.*}}[12], %{{.*}} {group = 2 : i64}
// CHECK-NOT:     blockscale.tcgen05_mma
gpu.module @kernels {
  gpu.func @wide(%a: memref<128x128xi8, #gpu.address_space<workgroup>>, %b: memref<64x128xi8, #gpu.address_space<workgroup>>,
                 %s: !blockscale.tmem_scales<128x16>, %acc: !blockscale.tmem_acc<256x128, group = 2>, %more: i1) {
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
        instruction = <tcgen05, 256x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
        layouts = <k, slots, swizzled>, <k, slots, swizzled> instruction_k = 96
        : memref<128x128xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_scales<128x16>,
          memref<64x128xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_scales<128x16>, !blockscale.tmem_acc<256x128, group = 2>
    gpu.return
  }
}

// -----

// 16-bit elements without scales: an instruction has 32 bytes along K, or 16
// rows of a tile that is contiguous along N.

// CHECK-LABEL: gpu.func @halves(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<128x64xi8, {{.*}}>, %[[B:[a-z0-9]+]]: memref<2x32x128xi8, {{.*}}>, %[[ACC:[a-z0-9]+]]: !blockscale.tmem_acc<128x128>, %[[MORE:[a-z0-9]+]]: i1)
// CHECK-DAG:     %[[C_0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C_32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[C_2048:.*]] = arith.constant 2048 : index
// CHECK-DAG:     %[[TRUE:.*]] = arith.constant true
// CHECK:         %[[A_0:.*]] = blockscale.matrix_descriptor %[[A]][%[[C_0]]] layout = <k, slots, swizzled>
// CHECK-NEXT:    %[[B_0:.*]] = blockscale.matrix_descriptor %[[B]][%{{.*}}] layout = <mn, slots, swizzled>
// CHECK-NEXT:    blockscale.tcgen05_mma <tcgen05, 128x128x16, unscaled, bf16, bf16, none, 0> %[[ACC]], %[[A_0]], %[[B_0]], %[[MORE]] {transpose_b} : !blockscale.tmem_acc<128x128>, i64
// CHECK:         %[[A_1:.*]] = blockscale.matrix_descriptor %[[A]][%[[C_32]]]
// CHECK-NEXT:    %[[B_1:.*]] = blockscale.matrix_descriptor %[[B]][%[[C_2048]]]
// CHECK-NEXT:    blockscale.tcgen05_mma {{.*}} %[[ACC]], %[[A_1]], %[[B_1]], %[[TRUE]] {transpose_b}
// CHECK-NEXT:    gpu.return
!a = memref<128x64xi8, #gpu.address_space<workgroup>>
!b = memref<2x32x128xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @halves(%a: !a, %b: !b, %acc: !blockscale.tmem_acc<128x128>,
                   %more: i1) {
    blockscale.async_tile_mma %a, %b, %acc, %more
        instruction = <tcgen05, 128x128x16, unscaled, bf16, bf16, none, 0>
        layouts = <k, slots, swizzled>, <mn, slots, swizzled>
        : !a, !b, !blockscale.tmem_acc<128x128>
    gpu.return
  }
}
