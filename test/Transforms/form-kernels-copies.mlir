// Copies to shared memory, in the layout that suits how operands are stored.

// RUN: blockscale-opt %s --blockscale-form-kernels -split-input-file | FileCheck %s

// K-contiguous fp8 goes in pieces of 16 bytes to where the exclusive or with the
// row says. Scales in the 32x4x4 layout fill the words of rows that are 32
// apart, others the lines of a group of 32 rows. The tile divides all sizes:
// nothing is compared with them.

// CHECK-LABEL: gpu.func @fp8__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<256x256xi8>, %[[X_SCALE:[a-z0-9]+]]: memref<2x2x32x16xi8>, %[[Y:[a-z0-9]+]]: memref<256x256xi8>, %[[Y_SCALE:[a-z0-9]+]]: memref<256x8xi8>,
// CHECK-SAME:    workgroup(%{{.*}} : memref<33792xi8,
// CHECK-NOT:     arith.cmpi
// CHECK:         blockscale.acc_load {{.*}} in_bounds :
// CHECK-NOT:     arith.cmpi
// CHECK:         %[[A:.*]] = memref.view %{{.*}} to memref<128x128xi8,
// CHECK:         %[[CHUNK:.*]] = arith.xori
// CHECK-NEXT:    %[[BYTE:.*]] = arith.muli %[[CHUNK]], %c16
// CHECK:         nvgpu.device_async_copy %[[X]][{{.*}}], %[[A]][%{{.*}}, %[[BYTE]]], 16 {bypassL1} :
// CHECK-NOT:     arith.cmpi
// CHECK:         nvgpu.device_async_copy %[[Y]][{{.*}}], %{{.*}}, 16 {bypassL1} :
// CHECK-NOT:     arith.cmpi
// CHECK:         %[[A_SCALE:.*]] = memref.view %{{.*}} to memref<1x4x32x4xi8,
// CHECK:         %[[LINE:.*]] = arith.xori
// CHECK:         nvgpu.device_async_copy %[[X_SCALE]][{{.*}}], %[[A_SCALE]][%{{.*}}, %{{.*}}, %[[LINE]], %c0], 4 :
// CHECK-NOT:     arith.cmpi
// CHECK:         %[[B_SCALE:.*]] = memref.view %{{.*}} to memref<4x32x4xi8,
// CHECK:         nvgpu.device_async_copy %[[Y_SCALE]][{{.*}}], %[[B_SCALE]][%{{.*}}, %{{.*}}, %c0], 4 :
// CHECK-NOT:     arith.cmpi
// CHECK:         blockscale.tile_mma
// CHECK-SAME:      {a_layout = #blockscale.tile_layout<k, slots, swizzled>, b_layout = #blockscale.tile_layout<k, slots, swizzled>}
// CHECK-SAME:      memref<1x4x32x4xi8, {{.*}}, memref<4x32x4xi8,
// CHECK-NOT:     arith.cmpi
// CHECK:         blockscale.acc_store {{.*}} in_bounds :
func.func @fp8(
    %x: tensor<256x256xf8E4M3FN>,
    %sx4: tensor<2x2x32x16xf8E8M0FNU>,
    %yt: tensor<256x256xf8E5M2>,
    %syt: tensor<256x8xf8E8M0FNU>,
    %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %sx = blockscale.unswizzle_scales %sx4
        : tensor<2x2x32x16xf8E8M0FNU> to tensor<256x8xf8E8M0FNU>
  %y_init = tensor.empty() : tensor<256x256xf8E5M2>
  %y = linalg.transpose ins(%yt : tensor<256x256xf8E5M2>)
       outs(%y_init : tensor<256x256xf8E5M2>) permutation = [1, 0]
  %sy_init = tensor.empty() : tensor<8x256xf8E8M0FNU>
  %sy = linalg.transpose ins(%syt : tensor<256x8xf8E8M0FNU>)
        outs(%sy_init : tensor<8x256xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.schedule<tile = [128, 128, 128], warps = [2, 2],
                                                stages = 1>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>,
         tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>, tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

// Packed fp4 for the instruction that takes it: as it is along K; along N, codes
// are read one by one, eight for a word, and neighbors of N by neighboring
// threads. 16 scales of a row are one piece.

// CHECK-LABEL: gpu.func @fp4__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<128x128xi8>, %[[X_SCALE:[a-z0-9]+]]: memref<128x16xi8>, %[[Y:[a-z0-9]+]]: memref<256x64xi8>, %[[Y_SCALE:[a-z0-9]+]]: memref<16x128xi8>,
// CHECK-DAG:     %[[NIBBLE:.*]] = arith.constant 15 : i8
// CHECK:         %[[A:.*]] = memref.view %{{.*}} to memref<64x128xi8,
// CHECK-COUNT-4: nvgpu.device_async_copy %[[X]][{{.*}}], %[[A]][{{.*}}], 16 {bypassL1} :
// CHECK:         %[[B:.*]] = memref.view %{{.*}} to memref<64x128xi8,
// CHECK:         scf.for
// CHECK-NOT:       nvgpu
// CHECK:           memref.load %[[Y]]
// CHECK:           arith.andi %{{.*}}, %[[NIBBLE]] : i8
// CHECK-COUNT-7:   memref.load %[[Y]]
// CHECK:           vector.store %{{.*}}, %[[B]][{{.*}}] {alignment = 4 : i64}
// CHECK:         nvgpu.device_async_copy %[[X_SCALE]][{{.*}}], %{{.*}}, 16 {bypassL1} : {{.*}} to memref<2x32x16xi8,
// CHECK:         scf.for
// CHECK-COUNT-4:   memref.load %[[Y_SCALE]]
// CHECK:           vector.store %{{.*}} : memref<2x32x16xi8,
// CHECK:         blockscale.tile_mma {{.*}} row = <e2m1, e2m1, ue4m3, 16> {a_layout = #blockscale.tile_layout<k, slots, swizzled>, b_layout = #blockscale.tile_layout<k, slots, swizzled>}
func.func @fp4(
    %x_bytes: tensor<128x128xi8>,
    %sx: tensor<128x16xf8E4M3FN>,
    %y_bytes: tensor<256x64xi8>,
    %sy: tensor<16x128xf8E4M3FN>,
    %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %x = blockscale.unpack %x_bytes
       : tensor<128x128xi8> to tensor<128x256xf4E2M1FN>
  %y = blockscale.unpack %y_bytes
       : tensor<256x64xi8> to tensor<256x128xf4E2M1FN>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.schedule<tile = [64, 64, 256], warps = [2, 2],
                                                stages = 1>}
       : tensor<128x256xf4E2M1FN>, tensor<128x16xf8E4M3FN>,
         tensor<256x128xf4E2M1FN>, tensor<16x128xf8E4M3FN>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// -----

// Beside fp8, packed fp4 stays packed: 16 codes are the first 8 of 16 bytes. fp8
// that is contiguous along N stays in rows along N.

// CHECK-LABEL: gpu.func @mixed__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<128x128xi8>, %{{[a-z0-9]+}}: memref<128x8xi8>, %[[Y:[a-z0-9]+]]: memref<256x128xi8>,
// CHECK:         %[[A:.*]] = memref.view %{{.*}} to memref<64x128xi8,
// CHECK-COUNT-4: nvgpu.device_async_copy %[[X]][{{.*}}], %[[A]][{{.*}}], 8 :
// CHECK:         %[[B:.*]] = memref.view %{{.*}} to memref<128x64xi8,
// CHECK-COUNT-4: nvgpu.device_async_copy %[[Y]][{{.*}}], %[[B]][{{.*}}], 16 {bypassL1} :
// CHECK:         blockscale.tile_mma {{.*}} row = <e2m1, e5m2, ue8m0, 32> {a_layout = #blockscale.tile_layout<k, padded, swizzled>, b_layout = #blockscale.tile_layout<mn, slots, swizzled>}
func.func @mixed(
    %x_bytes: tensor<128x128xi8>,
    %sx: tensor<128x8xf8E8M0FNU>,
    %y: tensor<256x128xf8E5M2>,
    %sy: tensor<8x128xf8E8M0FNU>,
    %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %x = blockscale.unpack %x_bytes
       : tensor<128x128xi8> to tensor<128x256xf4E2M1FN>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.schedule<tile = [64, 64, 128], warps = [2, 2],
                                                stages = 1>}
       : tensor<128x256xf4E2M1FN>, tensor<128x8xf8E8M0FNU>,
         tensor<256x128xf8E5M2>, tensor<8x128xf8E8M0FNU>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
