// Ops of the dialect, each at the stages that its level allows and at the others.

// RUN: split-file %s %t
// DEFINE: %{verify} = blockscale-opt -o /dev/null -split-input-file --blockscale-verify-stage=stage
// DEFINE: %{refuse} = blockscale-opt -o /dev/null -split-input-file -verify-diagnostics --blockscale-verify-stage=stage

// The host has no op of a kernel at any stage.
// RUN: %{refuse}=tile %t/on-host.mlir
// RUN: %{refuse}=kernel %t/on-host.mlir
// RUN: %{refuse}=instr %t/on-host.mlir
// RUN: %{refuse}=nvvm %t/on-host.mlir

// Nor has a kernel ops of the host, or tensors.
// RUN: %{refuse}=tile %t/in-kernels.mlir
// RUN: %{refuse}=kernel %t/in-kernels.mlir
// RUN: %{refuse}=instr %t/in-kernels.mlir
// RUN: %{refuse}=nvvm %t/in-kernels.mlir

// RUN: %{verify}=tile %t/tile.mlir
// RUN: %{refuse}=kernel %t/tile.mlir
// RUN: %{refuse}=instr %t/tile.mlir
// RUN: %{refuse}=nvvm %t/tile.mlir

// RUN: %{verify}=tile %t/host.mlir
// RUN: %{verify}=kernel %t/host.mlir
// RUN: %{verify}=instr %t/host.mlir
// RUN: %{verify}=nvvm %t/host.mlir

// RUN: %{verify}=tile %t/kernel.mlir
// RUN: %{verify}=kernel %t/kernel.mlir
// RUN: %{refuse}=instr %t/kernel.mlir
// RUN: %{refuse}=nvvm %t/kernel.mlir

// RUN: %{verify}=tile %t/instr.mlir
// RUN: %{verify}=kernel %t/instr.mlir
// RUN: %{verify}=instr %t/instr.mlir
// RUN: %{refuse}=nvvm %t/instr.mlir

//--- on-host.mlir
func.func @roles() {
  // expected-error@+1 {{'blockscale.roles' is not allowed on the host}}
  blockscale.roles warps = [4, 1] {
  }, {
  }
  return
}

// -----

!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
func.func @async_tile_mma(%a: !tile, %s: !scales, %acc: !blockscale.tmem_acc<128x128>, %more: i1) {
  // expected-error@+1 {{'blockscale.async_tile_mma' is not allowed on the host}}
  blockscale.async_tile_mma %a, %s, %a, %s, %acc, %more
      instruction = <tcgen05, 128x128x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
      layouts = <k, slots, swizzled>, <k, slots, swizzled>
      : !tile, !scales, !tile, !scales, !blockscale.tmem_acc<128x128>
  return
}

// -----

func.func @acc_read(%acc: !blockscale.tmem_acc<128x64>, %column: index) {
  // expected-error@+1 {{'blockscale.acc_read' is not allowed on the host}}
  %part = blockscale.acc_read %acc[%column]
      : !blockscale.tmem_acc<128x64> -> !blockscale.acc<128x32, #blockscale.warps<4x1>>
  return
}

// -----

!acc = !blockscale.acc<128x32, #blockscale.warps<4x1>>
func.func @acc_add(%acc: !acc) {
  // expected-error@+1 {{'blockscale.acc_add' is not allowed on the host}}
  %sum = blockscale.acc_add %acc, %acc : !acc
  return
}

// -----

!tile = memref<64x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x64, #blockscale.warps<4x1>>
func.func @warpgroup_mma(%a: !tile, %acc: !acc) {
  // expected-error@+1 {{'blockscale.warpgroup_mma' is not allowed on the host}}
  %0 = blockscale.warpgroup_mma %a, %a, %acc
       instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled> : !tile, !tile, !acc
  return
}

// -----

!acc = !blockscale.acc<64x64, #blockscale.warps<4x1>>
func.func @warpgroup_wait(%acc: !acc) {
  // expected-error@+1 {{'blockscale.warpgroup_wait' is not allowed on the host}}
  %0 = blockscale.warpgroup_wait %acc pending = 0 : !acc
  return
}

// -----

!quantized = memref<2x64x64xi8, #gpu.address_space<workgroup>>
!x_tile = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>
func.func @warpgroup_mma_mixed(%y: !quantized, %x: !x_tile, %acc: !acc, %inexact: i32, %scales: i32) {
  // expected-error@+1 {{'blockscale.warpgroup_mma_mixed' is not allowed on the host}}
  %0, %1 = blockscale.warpgroup_mma_mixed %y, %x, %acc, %inexact scales = %scales, %scales
       types = <e4m3, e4m3, ue8m0, 32> instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
       layout = <k, slots, swizzled> : !quantized, !x_tile, !acc
  return
}

// -----

!quantized = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!row = memref<8x8x16xi8, #gpu.address_space<workgroup>>
!factors = memref<4xi32, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<8x64, #blockscale.warp_columns<4>>
func.func @warpgroup_mma_gemv(%y: !quantized, %x: !row, %f: !factors, %acc: !acc, %inexact: i32, %scales: i32) {
  // expected-error@+1 {{'blockscale.warpgroup_mma_gemv' is not allowed on the host}}
  %0, %1 = blockscale.warpgroup_mma_gemv %y, %x, %f, %acc, %inexact scales = %scales, %scales
       types = <e2m1, e2m1, ue8m0, 32> : !quantized, !row, !factors, !acc
  return
}

// -----

!acc = !blockscale.acc<8x64, #blockscale.warp_columns<4>>
func.func @acc_total(%acc: !acc) {
  // expected-error@+1 {{'blockscale.acc_total' is not allowed on the host}}
  %0 = blockscale.acc_total %acc : !acc
  return
}

// -----

!acc = !blockscale.acc<8x64, #blockscale.warp_columns<4>>
func.func @acc_transpose(%acc: !acc) {
  // expected-error@+1 {{'blockscale.acc_transpose' is not allowed on the host}}
  %0 = blockscale.acc_transpose %acc : !acc -> !blockscale.acc<64x8, #blockscale.warps<4x1>>
  return
}

// -----

func.func @cluster_barrier() {
  // expected-error@+1 {{'blockscale.cluster_barrier' is not allowed on the host}}
  blockscale.cluster_barrier
  return
}

// -----

// It is free of effects and has an integer, as what sizes are computed with.
func.func @instruction_descriptor() -> i32 {
  // expected-error@+1 {{'blockscale.instruction_descriptor' is not allowed on the host}}
  %word = blockscale.instruction_descriptor
      <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
  return %word : i32
}

//--- in-kernels.mlir
gpu.module @kernels {
  gpu.func @multiprocessors() -> index {
    // expected-error@+1 {{'blockscale.sm_count' is not allowed in a kernel}}
    %n = blockscale.sm_count
    gpu.return %n : index
  }
}

// -----

gpu.module @kernels {
  gpu.func @result_sizes(%x: memref<?xf32>, %n: index) {
    // expected-error@+1 {{'blockscale.result_sizes' is not allowed in a kernel}}
    blockscale.result_sizes %x sizes(%n) : memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @unpack(%bytes: tensor<3x16xi8>) {
    // expected-error@+1 {{'blockscale.unpack' is not allowed in a kernel}}
    %x = blockscale.unpack %bytes : tensor<3x16xi8> to tensor<3x32xf4E2M1FN>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @dequantize(%elements: tensor<128x256xf8E4M3FN>, %scales: tensor<128x8xf8E8M0FNU>) {
    // expected-error@+1 {{'blockscale.dequantize' is not allowed in a kernel}}
    %y = blockscale.dequantize %elements, %scales
         : tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU> to tensor<128x256xf32>
    gpu.return
  }
}

//--- tile.mlir
func.func @swizzle(%s: tensor<300x9xf8E8M0FNU>) -> tensor<3x3x32x16xf8E8M0FNU> {
  // expected-error@+1 {{'blockscale.swizzle_scales' is not allowed on the host}}
  %t = blockscale.swizzle_scales %s
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  return %t : tensor<3x3x32x16xf8E8M0FNU>
}

// -----

func.func @dequantize(%elements: tensor<128x256xf8E4M3FN>, %scales: tensor<128x8xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.dequantize' is not allowed on the host}}
  %y = blockscale.dequantize %elements, %scales
       : tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU> to tensor<128x256xf32>
  return
}

// -----

func.func @unpack(%bytes: tensor<3x16xi8>) {
  // expected-error@+1 {{'blockscale.unpack' is not allowed on the host}}
  %x = blockscale.unpack %bytes : tensor<3x16xi8> to tensor<3x32xf4E2M1FN>
  return
}

//--- host.mlir
func.func @sizes(%x: memref<?x4xf32>, %m: index) -> index {
  blockscale.result_sizes %x sizes(%m) : memref<?x4xf32>
  %n = blockscale.sm_count
  return %n : index
}

//--- kernel.mlir
gpu.module @kernels {
  gpu.func @roles() {
    // expected-error@+1 {{'blockscale.roles' is not allowed in a kernel}}
    blockscale.roles warps = [4, 1] {
    }, {
    }
    gpu.return
  }
}

// -----

!acc = !blockscale.acc<64x64, #blockscale.warps<4x1>>
gpu.module @kernels {
  gpu.func @warpgroup_wait(%acc: !acc) {
    // expected-error@+1 {{'blockscale.warpgroup_wait' is not allowed in a kernel}}
    %0 = blockscale.warpgroup_wait %acc pending = 0 : !acc
    gpu.return
  }
}

// -----

// As a vector, it is an op of the kernel level, too.
gpu.module @kernels {
  gpu.func @dequantize(%elements: vector<32xf8E4M3FN>, %scales: vector<1xf8E8M0FNU>) {
    // expected-error@+1 {{'blockscale.dequantize' is not allowed in a kernel}}
    %y = blockscale.dequantize %elements, %scales
         : vector<32xf8E4M3FN>, vector<1xf8E8M0FNU> to vector<32xf32>
    gpu.return
  }
}

//--- instr.mlir
gpu.module @kernels {
  gpu.func @cluster_barrier() {
    // expected-error@+1 {{'blockscale.cluster_barrier' is not allowed in a kernel}}
    blockscale.cluster_barrier
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @instruction_descriptor() -> i32 {
    // expected-error@+1 {{'blockscale.instruction_descriptor' is not allowed in a kernel}}
    %word = blockscale.instruction_descriptor
        <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
    gpu.return %word : i32
  }
}
