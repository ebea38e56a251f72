// A kernel of the path mma_sync whose stages bulk copies fill: who multiplies,
// and what one step hands over.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize --cse -split-input-file 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

// Four warps and the one that loads. A stage is full when its copies have
// arrived, and empty when each of the four says so. Stages begin where swizzles
// do.

// CHECK-LABEL: func.func @product(
// CHECK:         blockscale.launch @kernels::@product__mma_scaled blocks = [%{{.*}}, 1, 1] threads = [160, 1, 1]
// CHECK-SAME:      "u1", {{.*}}box = [64, 128], {{.*}}swizzle = "128"
// CHECK-SAME:      "u2", {{.*}}box = [1, 1, 256], {{.*}}swizzle = "none"
// CHECK-SAME:      of [0, 1, 2, 3]

// CHECK-LABEL: gpu.func @product__mma_scaled(
// CHECK-SAME:    workgroup(%[[STAGES:.*]] : memref<34816xi8, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64}, %[[BARRIERS:.*]] : memref<4xi64, #gpu.address_space<workgroup>>)
// CHECK-DAG:     %[[ALL:.*]] = arith.constant -1 : i32
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         blockscale.barrier_init %[[BARRIERS]][%{{.*}}], 1 :
// CHECK:         blockscale.barrier_init %[[BARRIERS]][%{{.*}}], 4 :
// CHECK:         gpu.barrier
// CHECK:         blockscale.roles warps = [4, 1] {

// Tiles of 64 rows start 8 bytes further in an atom, or not.

// CHECK:           %[[SUMS:.*]] = blockscale.acc_zero : <64x64, #blockscale.warps<2x2>>
// CHECK:           blockscale.barrier_wait %[[BARRIERS]]
// CHECK:           %[[A:.*]] = memref.view %[[STAGES]]{{.*}} to memref<64x128xi8,
// CHECK:           %[[SHIFT:.*]] = arith.muli %{{.*}}, %c4
// CHECK:           %[[AT:.*]] = arith.addi %{{.*}}, %[[SHIFT]]
// CHECK:           %[[A_SCALES:.*]] = memref.view %[[STAGES]][%[[AT]]][] {{.*}} to memref<1x1x32x16xi8,
// CHECK:           %[[WHOLE:.*]] = blockscale.tile_mma %[[A]], %[[A_SCALES]], %{{.*}}, %{{.*}}, %[[SUMS]] types =
// CHECK-SAME:        a_layout = #blockscale.tile_layout<k, slots, swizzled>, a_scale_layout = #blockscale.scale_tile_layout<atoms>
// CHECK:           nvvm.bar.warp.sync %[[ALL]]
// CHECK:           %[[ELECTED:.*]] = nvvm.elect.sync
// CHECK:           scf.if %[[ELECTED]] {
// CHECK:             blockscale.barrier_arrive %[[BARRIERS]]

// K ends in a word of scales: of the last step, one block counts.

// CHECK:           blockscale.barrier_wait
// CHECK:           %[[SUM:.*]] = blockscale.tile_mma %{{.*}}, %[[WHOLE]] blocks %[[ONE]] types =
// CHECK:           blockscale.acc_store %[[SUM]]

// Elements of two operands, and a whole atom of each.

// CHECK:         }, {
// CHECK:           blockscale.barrier_arrive %[[BARRIERS]][%{{.*}}] expect 17408 :
// CHECK-COUNT-4:   blockscale.tensor_load
func.func @product(%x: tensor<128x160xf8E4M3FN>, %sx: tensor<1x2x32x16xf8E8M0FNU>,
                   %y: tensor<64x160xf8E5M2>, %sy: tensor<1x2x32x16xf8E8M0FNU>) -> tensor<128x64xf32> {
  %acc = arith.constant dense<0.0> : tensor<128x64xf32>
  %x_rows = blockscale.unswizzle_scales %sx : tensor<1x2x32x16xf8E8M0FNU> to tensor<128x5xf8E8M0FNU>
  %y_rows = blockscale.unswizzle_scales %sy : tensor<1x2x32x16xf8E8M0FNU> to tensor<64x5xf8E8M0FNU>
  %e = tensor.empty() : tensor<160x64xf8E5M2>
  %b = linalg.transpose ins(%y : tensor<64x160xf8E5M2>) outs(%e : tensor<160x64xf8E5M2>) permutation = [1, 0]
  %se = tensor.empty() : tensor<5x64xf8E8M0FNU>
  %sb = linalg.transpose ins(%y_rows : tensor<64x5xf8E8M0FNU>) outs(%se : tensor<5x64xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_rows, %b, %sb, %acc
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 128], stages = 2, accumulators = 1, persistent = true>}
       : tensor<128x160xf8E4M3FN>, tensor<128x5xf8E8M0FNU>, tensor<160x64xf8E5M2>, tensor<5x64xf8E8M0FNU>, tensor<128x64xf32>
  return %d : tensor<128x64xf32>
}

// -----

// What copies cannot bring, nibbles along N, warps do, behind the one that
// loads.

// REMARK: remark: y is brought by warps, not by bulk copies: no copy brings such elements to the tensor core's layout

// CHECK-LABEL: func.func @filled(
// CHECK:         blockscale.launch {{.*}} threads = [288, 1, 1] {{.*}} of [0, 1, 3] ins
// CHECK-LABEL: gpu.func @filled__mma_scaled(
// CHECK:         blockscale.barrier_init %{{.*}}, 129 :
// CHECK:         blockscale.roles warps = [4, 1, 4] {
func.func @filled(%x: tensor<64x256xf4E2M1FN>, %sx: tensor<1x2x32x16xf8E8M0FNU>,
                  %y: tensor<256x64xf4E2M1FN>, %sy: tensor<1x2x32x16xf8E8M0FNU>) -> tensor<64x64xf32> {
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  %x_rows = blockscale.unswizzle_scales %sx : tensor<1x2x32x16xf8E8M0FNU> to tensor<64x8xf8E8M0FNU>
  %y_rows = blockscale.unswizzle_scales %sy : tensor<1x2x32x16xf8E8M0FNU> to tensor<64x8xf8E8M0FNU>
  %se = tensor.empty() : tensor<8x64xf8E8M0FNU>
  %sb = linalg.transpose ins(%y_rows : tensor<64x8xf8E8M0FNU>) outs(%se : tensor<8x64xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_rows, %y, %sb, %acc
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 256], stages = 2, accumulators = 1, persistent = true>}
       : tensor<64x256xf4E2M1FN>, tensor<64x8xf8E8M0FNU>, tensor<256x64xf4E2M1FN>, tensor<8x64xf8E8M0FNU>, tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
