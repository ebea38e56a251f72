// Copies to shared memory, in the layout that suits how operands are stored.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels -split-input-file | FileCheck %s

// K-contiguous fp8 goes in pieces of 16 bytes to where the exclusive or with the
// row says. Scales in the 32x4x4 layout fill the words of rows that are 32
// apart, others the vectors of a group of 32 rows. The tile divides all sizes:
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
// CHECK:         %[[OUTER:.*]] = arith.xori
// CHECK:         nvgpu.device_async_copy %[[X_SCALE]][{{.*}}], %[[A_SCALE]][%{{.*}}, %{{.*}}, %[[OUTER]], %c0], 4 :
// CHECK-NOT:     arith.cmpi
// CHECK:         %[[B_SCALE:.*]] = memref.view %{{.*}} to memref<4x32x4xi8,
// CHECK:         nvgpu.device_async_copy %[[Y_SCALE]][{{.*}}], %[[B_SCALE]][%{{.*}}, %{{.*}}, %c0], 4 :
// CHECK-NOT:     arith.cmpi
// CHECK:         blockscale.tile_mma
// CHECK-SAME:      {a_layout = #blockscale.tile_layout<k, slots, swizzled>, a_scale_layout = #blockscale.scale_tile_layout<parts>, b_layout = #blockscale.tile_layout<k, slots, swizzled>, b_scale_layout = #blockscale.scale_tile_layout<lanes>}
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
        blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2],
                                                stages = 1>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>,
         tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>, tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

// Packed fp4 for the instruction that takes it: as it is along K. Along N, a
// thread reads a word of eight steps along K each, transposes the 8 x 8 elements by
// exchanging halves of words, bytes of halves and nibbles of bytes, and stores
// eight words. Which of them comes first depends on the thread: neighbors along N
// store to different banks. 16 scales of a row are one piece.

// CHECK-LABEL: gpu.func @fp4__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<128x128xi8>, %[[X_SCALE:[a-z0-9]+]]: memref<128x16xi8>, %[[Y:[a-z0-9]+]]: memref<256x64xi8>, %[[Y_SCALE:[a-z0-9]+]]: memref<16x128xi8>,
// CHECK-DAG:     %[[HALVES:.*]] = arith.constant 65535 : i32
// CHECK-DAG:     %[[BYTES:.*]] = arith.constant 16711935 : i32
// CHECK-DAG:     %[[NIBBLES:.*]] = arith.constant 252645135 : i32
// CHECK:         %[[A:.*]] = memref.view %{{.*}} to memref<64x128xi8,
// CHECK-COUNT-4: nvgpu.device_async_copy %[[X]][{{.*}}], %[[A]][{{.*}}], 16 {bypassL1} :
// CHECK:         %[[B:.*]] = memref.view %{{.*}} to memref<64x128xi8,
// CHECK:         scf.for
// CHECK:           %[[BYTE:.*]] = arith.divui %{{.*}}, %c2
// CHECK-NEXT:      vector.load %[[Y]][%[[K:.*]], %[[BYTE]]] {alignment = 4 : i64} : memref<256x64xi8>, vector<4xi8>
// CHECK:           %[[K_1:.*]] = arith.addi %[[K]], %c1
// CHECK:           vector.load %[[Y]][%[[K_1]], %{{.*}}]
// CHECK-COUNT-6:   vector.load %[[Y]]
// CHECK:           %[[TURN_4:.*]] = arith.andi %[[TURN:.*]], %c4 : index
// CHECK-NEXT:      %[[IS_4:.*]] = arith.cmpi ne, %[[TURN_4]], %c0
// CHECK-NEXT:      %[[UP:.*]] = arith.shli %[[W_4:.*]], %c16_i32
// CHECK-NEXT:      %[[DOWN:.*]] = arith.shrui %[[W_0:.*]], %c16_i32
// CHECK-NEXT:      arith.andi %[[W_0]], %[[HALVES]]
// CHECK-NEXT:      arith.andi %[[UP]], %c-65536_i32
// CHECK-NEXT:      %[[LOW:.*]] = arith.ori
// CHECK-NEXT:      arith.andi %[[DOWN]], %[[HALVES]]
// CHECK-NEXT:      arith.andi %[[W_4]], %c-65536_i32
// CHECK-NEXT:      %[[HIGH:.*]] = arith.ori
// CHECK-NEXT:      arith.select %[[IS_4]], %[[HIGH]], %[[LOW]]
// CHECK-NEXT:      arith.select %[[IS_4]], %[[LOW]], %[[HIGH]]
// CHECK-COUNT-6:   arith.andi %{{.*}}, %[[HALVES]]
// CHECK:           arith.andi %[[TURN]], %c2 : index
// CHECK-COUNT-8:   arith.andi %{{.*}}, %[[BYTES]]
// CHECK:           arith.andi %[[TURN]], %c1 : index
// CHECK-COUNT-8:   arith.andi %{{.*}}, %[[NIBBLES]]
// CHECK:           %[[FLAT:.*]] = memref.collapse_shape %[[B]] {{.*}} into memref<8192xi8,
// CHECK:           vector.store %{{.*}}, %[[FLAT]][%[[TO:.*]]] {alignment = 4 : i64}
// CHECK:           %[[TO_1:.*]] = arith.xori %[[TO]], %c144
// CHECK:           vector.store %{{.*}}, %[[FLAT]][%[[TO_1]]] {alignment = 4 : i64}
// CHECK-COUNT-6:   vector.store %{{.*}}, %[[FLAT]]
// CHECK-NOT:       vector.store %{{.*}}, %[[FLAT]]
// CHECK:         nvgpu.device_async_copy %[[X_SCALE]][{{.*}}], %{{.*}}, 16 {bypassL1} : {{.*}} to memref<2x32x16xi8,
// CHECK:         scf.for
// CHECK-COUNT-4:   memref.load %[[Y_SCALE]]
// CHECK:           vector.store %{{.*}} : memref<2x32x16xi8,
// CHECK:         blockscale.tile_mma {{.*}} types = <e2m1, e2m1, ue4m3, 16> instruction = <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4> {a_layout = #blockscale.tile_layout<k, slots, swizzled>, a_scale_layout = #blockscale.scale_tile_layout<lanes>, b_layout = #blockscale.tile_layout<k, slots, swizzled>, b_scale_layout = #blockscale.scale_tile_layout<lanes>}
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
        blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 256], warps = [2, 2],
                                                stages = 1>}
       : tensor<128x256xf4E2M1FN>, tensor<128x16xf8E4M3FN>,
         tensor<256x128xf4E2M1FN>, tensor<16x128xf8E4M3FN>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// -----

// Words that are not wholly in the operand are 0: rows beyond N, and each step
// beyond K.

// CHECK-LABEL: gpu.func @fp4_guarded__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<288x20xi8>, %{{[a-z0-9]+}}: memref<40x9xi8>, %[[Y:[a-z0-9]+]]: memref<288x68xi8>,
// CHECK:         %[[A:.*]] = memref.view %{{.*}} to memref<64x128xi8,
// CHECK:         scf.for
// CHECK:           %[[IS_ROW:.*]] = arith.cmpi ult, %[[ROW:.*]], %c40
// CHECK-NEXT:      %[[IS_K:.*]] = arith.cmpi ult, %[[K:.*]], %c288
// CHECK-NEXT:      %[[INSIDE:.*]] = arith.andi %[[IS_ROW]], %[[IS_K]]
// CHECK-NEXT:      %[[ROW_OR_0:.*]] = arith.select %[[INSIDE]], %[[ROW]], %c0
// CHECK-NEXT:      %[[K_OR_0:.*]] = arith.select %[[INSIDE]], %[[K]], %c0
// CHECK-NEXT:      %[[BYTE:.*]] = arith.divui %[[ROW_OR_0]], %c2
// CHECK-NEXT:      %[[BYTES:.*]] = vector.load %[[X]][%[[K_OR_0]], %[[BYTE]]]
// CHECK-NEXT:      %[[AS_WORD:.*]] = vector.bitcast %[[BYTES]]
// CHECK-NEXT:      %[[WORD:.*]] = vector.extract %[[AS_WORD]][0]
// CHECK-NEXT:      arith.select %[[INSIDE]], %[[WORD]], %c0_i32
// CHECK:           %[[K_1:.*]] = arith.addi %[[K]], %c1
// CHECK:           arith.cmpi ult, %[[K_1]], %c288
// CHECK-COUNT-7:   vector.load %[[X]]
// CHECK-COUNT-8:   vector.load %[[Y]]
func.func @fp4_guarded(
    %xt_bytes: tensor<288x20xi8>,
    %sx: tensor<40x9xf8E8M0FNU>,
    %y_bytes: tensor<288x68xi8>,
    %sy: tensor<9x136xf8E8M0FNU>,
    %c: tensor<40x136xf32>) -> tensor<40x136xf32> {
  %xt = blockscale.unpack %xt_bytes
        : tensor<288x20xi8> to tensor<288x40xf4E2M1FN>
  %x_init = tensor.empty() : tensor<40x288xf4E2M1FN>
  %x = linalg.transpose ins(%xt : tensor<288x40xf4E2M1FN>)
       outs(%x_init : tensor<40x288xf4E2M1FN>) permutation = [1, 0]
  %y = blockscale.unpack %y_bytes
       : tensor<288x68xi8> to tensor<288x136xf4E2M1FN>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 256], warps = [2, 2],
                                                stages = 1>}
       : tensor<40x288xf4E2M1FN>, tensor<40x9xf8E8M0FNU>,
         tensor<288x136xf4E2M1FN>, tensor<9x136xf8E8M0FNU>, tensor<40x136xf32>
  return %d : tensor<40x136xf32>
}

// -----

// Where N is no multiple of 8, steps along K do not begin with a word: elements are
// read one by one, eight for a word, and neighbors of N by neighboring threads.

// CHECK-LABEL: gpu.func @fp4_elements__mma_scaled(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<64x128xi8>, %{{[a-z0-9]+}}: memref<64x8xi8>, %[[Y:[a-z0-9]+]]: memref<256x66xi8>,
// CHECK-DAG:     %[[NIBBLE:.*]] = arith.constant 15 : i8
// CHECK:         memref.view %{{.*}} to memref<64x128xi8,
// CHECK:         %[[B:.*]] = memref.view %{{.*}} to memref<64x128xi8,
// CHECK:         scf.for
// CHECK-NOT:       {{nvgpu|vector.load}}
// CHECK:           memref.load %[[Y]]
// CHECK:           arith.andi %{{.*}}, %[[NIBBLE]] : i8
// CHECK-COUNT-7:   memref.load %[[Y]]
// CHECK:           vector.store %{{.*}}, %[[B]][{{.*}}] {alignment = 4 : i64}
func.func @fp4_elements(
    %x_bytes: tensor<64x128xi8>,
    %sx: tensor<64x8xf8E8M0FNU>,
    %y_bytes: tensor<256x66xi8>,
    %sy: tensor<8x132xf8E8M0FNU>,
    %c: tensor<64x132xf32>) -> tensor<64x132xf32> {
  %x = blockscale.unpack %x_bytes
       : tensor<64x128xi8> to tensor<64x256xf4E2M1FN>
  %y = blockscale.unpack %y_bytes
       : tensor<256x66xi8> to tensor<256x132xf4E2M1FN>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 256], warps = [2, 2],
                                                stages = 1>}
       : tensor<64x256xf4E2M1FN>, tensor<64x8xf8E8M0FNU>,
         tensor<256x132xf4E2M1FN>, tensor<8x132xf8E8M0FNU>, tensor<64x132xf32>
  return %d : tensor<64x132xf32>
}

// -----

// Beside fp8, packed fp4 stays packed: 16 elements are the first 8 of 16 bytes. fp8
// that is contiguous along N stays in rows along N.

// CHECK-LABEL: gpu.func @mixed__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<128x128xi8>, %{{[a-z0-9]+}}: memref<128x8xi8>, %[[Y:[a-z0-9]+]]: memref<256x128xi8>,
// CHECK:         %[[A:.*]] = memref.view %{{.*}} to memref<64x128xi8,
// CHECK-COUNT-4: nvgpu.device_async_copy %[[X]][{{.*}}], %[[A]][{{.*}}], 8 :
// CHECK:         %[[B:.*]] = memref.view %{{.*}} to memref<128x64xi8,
// CHECK-COUNT-4: nvgpu.device_async_copy %[[Y]][{{.*}}], %[[B]][{{.*}}], 16 {bypassL1} :
// CHECK:         blockscale.tile_mma {{.*}} types = <e2m1, e5m2, ue8m0, 32> instruction = <mma_sync, 16x8x32, mxf8f6f4, e2m1, e5m2, ue8m0, 1> {a_layout = #blockscale.tile_layout<k, padded, swizzled>, a_scale_layout = #blockscale.scale_tile_layout<lanes>, b_layout = #blockscale.tile_layout<mn, slots, swizzled>, b_scale_layout = #blockscale.scale_tile_layout<lanes>}
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
        blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2],
                                                stages = 1>}
       : tensor<128x256xf4E2M1FN>, tensor<128x8xf8E8M0FNU>,
         tensor<256x128xf8E5M2>, tensor<8x128xf8E8M0FNU>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
