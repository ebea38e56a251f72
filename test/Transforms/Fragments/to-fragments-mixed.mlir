// A of wgmma dequantized in registers: 16 bytes of each of a lane's two
// rows, the factors of their scales, and four instructions for a chunk.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" | FileCheck %s

// CHECK-LABEL: gpu.func @product(
// CHECK-SAME:    workgroup(%[[Y:[a-z0-9]+]] : memref<1x64x64xi8, {{[^%]*}}, %[[X:[a-z0-9]+]] : memref<8x128xi8,
// CHECK:         vector.load %[[Y]][%c0, %{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<1x64x64xi8, {{.*}}>, vector<16xi8>
// CHECK:         vector.load %[[Y]][%c0, %{{.*}}, %{{.*}}] {alignment = 16 : i64}
// CHECK-NOT:     vector.load
// The scale of a lane's first row: a power of two, in both halves.
// CHECK:         %[[CODE:.*]] = nvvm.prmt
// CHECK:         arith.muli %[[CODE]], %{{.*}} : i32
// CHECK:         arith.maxui
// CHECK:         %[[FENCE:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
// CHECK:         %[[DESCRIPTOR:.*]] = blockscale.matrix_descriptor %[[X]][%c0] layout = <k, slots, swizzled> wgmma
// CHECK-NEXT:    llvm.inline_asm has_side_effects asm_dialect = att "{.reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$4, $5, $6, $7}, $8, p, 1, 1, 0;}", "=f,=f,=f,=f,r,r,r,r,l,0,1,2,3,~{memory}" {{.*}}, %[[DESCRIPTOR]],
// CHECK:         blockscale.matrix_descriptor %[[X]][%c32]
// CHECK:         blockscale.matrix_descriptor %[[X]][%c64]
// CHECK:         blockscale.matrix_descriptor %[[X]][%c96]
// CHECK:         wgmma.mma_async
// CHECK-NOT:     wgmma.mma_async
// CHECK:         nvvm.wgmma.commit.group.sync.aligned
// CHECK:         %[[INEXACT:.*]] = arith.ori
// CHECK:         memref.store %{{.*}}, %{{.*}}[%c0] : memref<1xi32>
gpu.module @kernels {
  gpu.func @product(%d: memref<8x64xf32>, %flags: memref<1xi32>, %scales: i32)
      workgroup(%y : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
                %x : memref<8x128xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %zero = blockscale.acc_zero : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %product, %inexact = blockscale.warpgroup_mma_mixed %y, %x, %zero, %none
        scales = %scales, %scales types = <e4m3, e4m3, ue8m0, 32>
        instruction = <wgmma, 64x8x16, unscaled, bf16, bf16, none, 0> layout = <k, slots, swizzled>
        : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
          memref<8x128xi8, #gpu.address_space<workgroup>>,
          !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %sums = blockscale.warpgroup_wait %product pending = 0
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    memref.store %inexact, %flags[%c0] : memref<1xi32>
    blockscale.acc_store %sums, %d[%c0, %c0]
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>>, memref<8x64xf32>
    gpu.return
  }
}

// With a tensor scale, each of 4 x 8 elements of two rows is rounded by itself.

// CHECK-LABEL: gpu.func @tensor_scale(
// CHECK:         %[[G:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-COUNT-32: arith.mulf %{{.*}}, %[[G]] : f32
// CHECK-NOT:     arith.mulf {{.*}} : f32
// CHECK:         wgmma.fence
gpu.module @tensor_scale_kernels {
  gpu.func @tensor_scale(%d: memref<8x64xf32>, %flags: memref<1xi32>, %scales: i32, %g: f32)
      workgroup(%y : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
                %x : memref<8x128xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %zero = blockscale.acc_zero : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %product, %inexact = blockscale.warpgroup_mma_mixed %y, %x, %zero, %none
        scales = %scales, %scales tensor_scale %g types = <e4m3, e4m3, ue8m0, 32>
        instruction = <wgmma, 64x8x16, unscaled, bf16, bf16, none, 0> layout = <k, slots, swizzled>
        : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
          memref<8x128xi8, #gpu.address_space<workgroup>>,
          !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %sums = blockscale.warpgroup_wait %product pending = 0
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    memref.store %inexact, %flags[%c0] : memref<1xi32>
    blockscale.acc_store %sums, %d[%c0, %c0]
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>>, memref<8x64xf32>
    gpu.return
  }
}

// Of fp4 that becomes f16, only the eight magnitudes are, once for both rows, since these have the
// same scales here.

// CHECK-LABEL: gpu.func @magnitudes(
// CHECK:         %[[G:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-COUNT-8: arith.mulf %{{.*}}, %[[G]] : f32
// CHECK-NOT:     arith.mulf {{.*}} : f32
// CHECK:         wgmma.fence
gpu.module @magnitudes_kernels {
  gpu.func @magnitudes(%d: memref<8x64xf32>, %flags: memref<1xi32>, %scales: i32, %g: f32)
      workgroup(%y : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
                %x : memref<2x8x128xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %zero = blockscale.acc_zero : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %product, %inexact = blockscale.warpgroup_mma_mixed %y, %x, %zero, %none
        scales = %scales, %scales tensor_scale %g types = <e2m1, e2m1, ue8m0, 32>
        instruction = <wgmma, 64x8x16, unscaled, f16, f16, none, 0> layout = <k, slots, swizzled>
        : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
          memref<2x8x128xi8, #gpu.address_space<workgroup>>,
          !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %sums = blockscale.warpgroup_wait %product pending = 0
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    memref.store %inexact, %flags[%c0] : memref<1xi32>
    blockscale.acc_store %sums, %d[%c0, %c0]
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>>, memref<8x64xf32>
    gpu.return
  }
}

// Of fp4 that becomes bf16, none is: the tensor scale is the sum of two bf16 values, once for all blocks. Each of 4 x 2
// x 2 x 2 pairs is multiplied by both.

// CHECK-LABEL: gpu.func @split(
// CHECK-NOT:     arith.mulf {{.*}} : f32
// CHECK:         arith.mulf %{{.*}}, %cst{{.*}} : f32
// CHECK-COUNT-3: arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK-NOT:     arith.truncf
// CHECK-COUNT-32: llvm.intr.fma(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<2xbf16>, vector<2xbf16>, vector<2xbf16>) -> vector<2xbf16>
// CHECK-NOT:     llvm.intr.fma
// CHECK:         wgmma.fence
gpu.module @split_kernels {
  gpu.func @split(%d: memref<8x64xf32>, %flags: memref<1xi32>, %scales: i32, %g: f32)
      workgroup(%y : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
                %x : memref<2x8x128xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %zero = blockscale.acc_zero : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %product, %inexact = blockscale.warpgroup_mma_mixed %y, %x, %zero, %none
        scales = %scales, %scales tensor_scale %g types = <e2m1, e2m1, ue8m0, 32>
        instruction = <wgmma, 64x8x16, unscaled, bf16, bf16, none, 0> layout = <k, slots, swizzled>
        : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
          memref<2x8x128xi8, #gpu.address_space<workgroup>>,
          !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %sums = blockscale.warpgroup_wait %product pending = 0
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    memref.store %inexact, %flags[%c0] : memref<1xi32>
    blockscale.acc_store %sums, %d[%c0, %c0]
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>>, memref<8x64xf32>
    gpu.return
  }
}

// A sparse A of bytes: four instructions of K = 32, 64 bytes of a row of b each. Two of them read the metadata of
// lanes 0 and 1 of a row, the others that of lanes 2 and 3. The result is stored in the rows of A.

// CHECK-LABEL: gpu.func @sparse(
// CHECK:         arith.shrui
// CHECK:         wgmma.fence
// CHECK:         blockscale.matrix_descriptor %{{.*}}[%c0] layout
// CHECK:         wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {$0, $1, $2, $3}, {$4, $5, $6, $7}, $8, $9, 0, p, 1, 1, 0;}", "=f,=f,=f,=f,r,r,r,r,l,r,0,1,2,3,~{memory}" {{.*}}, %[[EVEN:[0-9]+]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK:         blockscale.matrix_descriptor %{{.*}}[%c64]
// CHECK:         $8, $9, 0, p, 1, 1, 0;}"
// CHECK:         blockscale.matrix_descriptor %{{.*}}[%c1024]
// CHECK:         $8, $9, 1, p, 1, 1, 0;}", {{.*}}, %[[EVEN]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK:         blockscale.matrix_descriptor %{{.*}}[%c1088]
// CHECK:         $8, $9, 1, p, 1, 1, 0;}"
// CHECK-NOT:     wgmma.mma_async
gpu.module @sparse_kernels {
  gpu.func @sparse(%d: memref<64x8xf32>, %flags: memref<1xi32>, %w: i32)
      workgroup(%x : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
                %y : memref<2x8x128xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %zero = blockscale.acc_zero : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %product, %inexact = blockscale.warpgroup_mma_mixed %x, %y, %zero, %none
        scales = %w, %w metadata = %w, %w, %w, %w, %w, %w, %w, %w types = <e4m3, e4m3, ue8m0, 32, 2:4>
        instruction = <wgmma, 64x8x32, unscaled, bf16, bf16, none, 0, 2:4> layout = <k, slots, swizzled>
        : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
          memref<2x8x128xi8, #gpu.address_space<workgroup>>,
          !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    %sums = blockscale.warpgroup_wait %product pending = 0
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
    memref.store %inexact, %flags[%c0] : memref<1xi32>
    %rows = blockscale.acc_transpose %sums
        : !blockscale.acc<8x64, #blockscale.warp_columns<4>> -> !blockscale.acc<64x8, #blockscale.warps<4x1>>
    blockscale.acc_store %rows, %d[%c0, %c0]
        : !blockscale.acc<64x8, #blockscale.warps<4x1>>, memref<64x8xf32>
    gpu.return
  }
}
