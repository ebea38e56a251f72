// Each stage on the way to PTX, for one row of each kind.

// DEFINE: %{name} =
// DEFINE: %{stage} = blockscale-compile %s --target=sm_120a --entry=%{name}
// DEFINE: %{stages} = %{stage} --emit=tile > %t.%{name} 2>&1 && %{stage} --emit=kernel 2>/dev/null >> %t.%{name} && %{stage} --emit=instr 2>/dev/null >> %t.%{name} && %{stage} --emit=nvvm 2>/dev/null >> %t.%{name} && %{stage} --emit=llvm 2>/dev/null >> %t.%{name} && %{stage} 2>/dev/null >> %t.%{name} && FileCheck %s --input-file=%t.%{name}

// REDEFINE: %{name} = mxf8f6f4
// RUN: %{stages} --check-prefix=MXF8F6F4
// REDEFINE: %{name} = mxf4
// RUN: %{stages} --check-prefix=MXF4
// REDEFINE: %{name} = mxf4nvf4
// RUN: %{stages} --check-prefix=MXF4NVF4
// REDEFINE: %{name} = two_halves
// RUN: %{stages} --check-prefix=HALVES

// The pipeline of blockscale-opt and the tool agree.
// RUN: blockscale-compile %s --target=sm_120a --emit=nvvm 2>/dev/null > %t.tool
// RUN: blockscale-opt %s --blockscale-to-nvvm="target=sm_120a ptx-version=87" 2>/dev/null > %t.opt
// RUN: %python %S/Inputs/same_level.py %t.tool %t.opt

// A call of mma.sync is convergent, lest LLVM move it to where not all lanes
// come.
// MXF8F6F4-NOT:   remark
// MXF8F6F4:       func.func @mxf8f6f4(
// MXF8F6F4-SAME:      tensor<16x128xf8E4M3FN>
// MXF8F6F4:         #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>, blockscale.path = #blockscale.path<mma_sync>
// MXF8F6F4:       gpu.func @mxf8f6f4(
// MXF8F6F4-SAME:      %{{[a-z0-9]+}}: memref<16x128xi8> {llvm.align = 16 : i64, llvm.noalias}, %{{[a-z0-9]+}}: memref<16x4xi8> {{.*}}, %{{[a-z0-9]+}}: memref<128x12xi8> {{.*}}, %{{[a-z0-9]+}}: memref<4x24xi8> {{.*}}, %[[C:[a-z0-9]+]]: memref<16x24xf32> {{.*}}, %[[D:[a-z0-9]+]]: memref<16x24xf32> {{.*}})
// MXF8F6F4:         blockscale.acc_load %[[C]]
// MXF8F6F4:         blockscale.tile_mma {{.*}} types = <e4m3, e2m1, ue8m0, 32> instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
// MXF8F6F4:         blockscale.acc_store %{{.*}}, %[[D]]
// MXF8F6F4:       gpu.func @mxf8f6f4(
// MXF8F6F4-NOT:     {{blockscale\.(tile|acc)}}
// MXF8F6F4:         blockscale.load_matrix
// MXF8F6F4:         blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
// MXF8F6F4:         gpu.module @kernels [#nvvm.target<chip = "sm_120a", features = "+ptx87">]
// MXF8F6F4:       llvm.func @mxf8f6f4(
// MXF8F6F4-SAME:      nvvm.maxntid = array<i32: 128, 1, 1>
// MXF8F6F4-NOT:     blockscale.
// MXF8F6F4:         nvvm.mma.block_scale
// MXF8F6F4-SAME:      #nvvm.block_scale_kind<mxf8f6f4>, multiplicandAPtxType = #nvvm.mma_type<e4m3>, multiplicandBPtxType = #nvvm.mma_type<e2m1>
// MXF8F6F4:       define ptx_kernel void @mxf8f6f4(
// MXF8F6F4:         @llvm.nvvm.mma.block.scale.m16n8k32.row.col.mxf8f6f4.scale.1x.f32.e4m3.e2m1.f32.ue8m0({{.*}}) #[[ATTRIBUTES:[0-9]+]]
// MXF8F6F4:       attributes #[[ATTRIBUTES]] = { {{.*}}convergent
// MXF8F6F4:       .version 8.7
// MXF8F6F4-NEXT:  .target sm_120a
// MXF8F6F4:       .visible .entry mxf8f6f4(
// MXF8F6F4:         .maxntid 128
// MXF8F6F4:         mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0
func.func @mxf8f6f4(%x: tensor<16x128xf8E4M3FN>, %sx: tensor<16x4xf8E8M0FNU>,
                    %y: tensor<128x24xf4E2M1FN>, %sy: tensor<4x24xf8E8M0FNU>,
                    %c: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x128xf8E4M3FN>, tensor<16x4xf8E8M0FNU>,
         tensor<128x24xf4E2M1FN>, tensor<4x24xf8E8M0FNU>, tensor<16x24xf32>
  return %d : tensor<16x24xf32>
}

// MXF4:           func.func @mxf4(
// MXF4:             #blockscale.instruction<mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
// MXF4:           gpu.func @mxf4(
// MXF4:             blockscale.tile_mma {{.*}} types = <e2m1, e2m1, ue8m0, 32> instruction = <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> {{.*}} : memref<32x64xi8, {{.*}}, memref<1x32x4xi8, {{.*}}, memref<32x64xi8, {{.*}}, memref<1x32x4xi8,
// MXF4:           gpu.func @mxf4(
// MXF4:             blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> {{.*}}[0, 0], {{.*}}[0, 0]
// MXF4:             blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> {{.*}}[2, 0], {{.*}}[2, 0]
// MXF4:           llvm.func @mxf4(
// MXF4:             #nvvm.block_scale_kind<mxf4>,
// MXF4:           define ptx_kernel void @mxf4(
// MXF4:             @llvm.nvvm.mma.block.scale.m16n8k64.row.col.mxf4.scale.2x.f32.e2m1.e2m1.f32.ue8m0(
// MXF4:           .visible .entry mxf4(
// MXF4:             mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
func.func @mxf4(%x: tensor<16x128xf4E2M1FN>, %sx: tensor<16x4xf8E8M0FNU>,
                %y: tensor<128x24xf4E2M1FN>, %sy: tensor<4x24xf8E8M0FNU>,
                %c: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x128xf4E2M1FN>, tensor<16x4xf8E8M0FNU>,
         tensor<128x24xf4E2M1FN>, tensor<4x24xf8E8M0FNU>, tensor<16x24xf32>
  return %d : tensor<16x24xf32>
}

// MXF4NVF4:       func.func @mxf4nvf4(
// MXF4NVF4:         #blockscale.instruction<mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
// MXF4NVF4:       gpu.func @mxf4nvf4(
// MXF4NVF4:         blockscale.tile_mma {{.*}} types = <e2m1, e2m1, ue4m3, 16> instruction = <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4> {{.*}} : memref<32x64xi8, {{.*}}, memref<1x32x8xi8,
// MXF4NVF4:       gpu.func @mxf4nvf4(
// MXF4NVF4:         blockscale.mma_sync <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4> {{.*}}[0, 0], {{.*}}[0, 0]
// MXF4NVF4:       llvm.func @mxf4nvf4(
// MXF4NVF4:         blockScaleFormat = #nvvm.block_scale_format<ue4m3>, kind = #nvvm.block_scale_kind<mxf4nvf4>,
// MXF4NVF4:       define ptx_kernel void @mxf4nvf4(
// MXF4NVF4:         @llvm.nvvm.mma.block.scale.m16n8k64.row.col.mxf4nvf4.scale.4x.f32.e2m1.e2m1.f32.ue4m3(
// MXF4NVF4:       .visible .entry mxf4nvf4(
// MXF4NVF4:         mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3
func.func @mxf4nvf4(%x: tensor<16x128xf4E2M1FN>, %sx: tensor<16x8xf8E4M3FN>,
                    %y: tensor<128x24xf4E2M1FN>, %sy: tensor<8x24xf8E4M3FN>,
                    %c: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x128xf4E2M1FN>, tensor<16x8xf8E4M3FN>,
         tensor<128x24xf4E2M1FN>, tensor<8x24xf8E4M3FN>, tensor<16x24xf32>
  return %d : tensor<16x24xf32>
}

// HALVES:         remark: computed exactly by two mxf4 instructions
// HALVES:         func.func @two_halves(
// HALVES:           #blockscale.instruction<mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
// HALVES:         gpu.func @two_halves(
// HALVES:           blockscale.tile_mma {{.*}} types = <e2m1, e2m1, ue8m0, 16> instruction = <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
// HALVES:         gpu.func @two_halves(
// HALVES:           %[[D_0:.*]] = blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> %{{.*}}, %[[B:.*]], %{{.*}}, %[[SA:.*]][0, 0], %[[SB:.*]][0, 0]
// HALVES:           blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> %{{.*}}, %[[B]], %[[D_0]], %[[SA]][2, 0], %[[SB]][2, 0]
// HALVES:         llvm.func @two_halves(
// HALVES:           #nvvm.block_scale_kind<mxf4>,
// HALVES:         define ptx_kernel void @two_halves(
// HALVES:           @llvm.nvvm.mma.block.scale.m16n8k64.row.col.mxf4.scale.2x
// HALVES:         .visible .entry two_halves(
// HALVES:           mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
func.func @two_halves(%x: tensor<16x128xf4E2M1FN>, %sx: tensor<16x8xf8E8M0FNU>,
                      %y: tensor<128x24xf4E2M1FN>, %sy: tensor<8x24xf8E8M0FNU>,
                      %c: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x128xf4E2M1FN>, tensor<16x8xf8E8M0FNU>,
         tensor<128x24xf4E2M1FN>, tensor<8x24xf8E8M0FNU>, tensor<16x24xf32>
  return %d : tensor<16x24xf32>
}
