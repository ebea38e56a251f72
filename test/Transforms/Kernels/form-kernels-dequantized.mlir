// Operands are decoded by kernels of their own, and a kernel behind the product
// computes it anew where bf16 does not hold what was decoded.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize | FileCheck %s

// A flag for each block that dequantizes, 2048 values each, as there are few.

// CHECK-LABEL: func.func @decoded(
// CHECK-SAME:    %[[X:.*]]: tensor<256x512xf8E4M3FN>, %[[XS:.*]]: tensor<256x16xf8E8M0FNU>, %[[Y:.*]]: tensor<512x128xf4E2M1FN>, %[[YS:.*]]: tensor<16x128xf8E8M0FNU>
// CHECK:         %[[XN:.*]]:2 = blockscale.launch @kernels::@decoded__dequantize_operand blocks = [64, 1, 1] threads = [256, 1, 1] ins(%[[X]], %[[XS]] : {{.*}}) outs({{.*}} : tensor<256x512xbf16>, tensor<64xi32>)
// CHECK:         %[[YN:.*]]:2 = blockscale.launch @kernels::@decoded__dequantize_operand_0 blocks = [32, 1, 1] threads = [256, 1, 1] ins(%{{.*}}, %[[YS]] : {{.*}}) outs({{.*}} : tensor<512x128xbf16>, tensor<32xi32>)
// CHECK:         %[[D:.*]] = blockscale.launch @kernels::@decoded__mma_scaled {{.*}} ins(%[[XN]]#0, %[[YN]]#0 :
// CHECK:         %[[E:.*]] = blockscale.launch @kernels::@decoded__exact_recomputation {{.*}} updates outs(%[[D]] :
// CHECK:         return %[[E]]

// Values of y are stored as its elements are, along N.

// CHECK-LABEL: gpu.func @decoded__dequantize_operand(
// CHECK-SAME:    memref<256x512xi8>, %{{.*}}: memref<256x16xi8>, %{{.*}}: memref<256x512xbf16>, %{{.*}}: memref<64xi32>) kernel
// CHECK:         vector.load {{.*}} : memref<256x512xi8>, vector<8xi8>
// CHECK:         vector.store {{.*}} : memref<256x512xbf16>, vector<8xbf16>
// CHECK:         nvvm.barrier #nvvm.reduction<or>
// CHECK-LABEL: gpu.func @decoded__dequantize_operand_0(
// CHECK-LABEL: gpu.func @decoded__mma_scaled(
// CHECK:         blockscale.warpgroup_mma

// The words are read before anything else is done.

// CHECK-LABEL: gpu.func @decoded__exact_recomputation(
// CHECK:         nvvm.barrier #nvvm.reduction<or>
// CHECK:         scf.if
// CHECK:           blockscale.tile_mma

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  func.func @decoded(%x: tensor<256x512xf8E4M3FN>,
                     %x_scale: tensor<256x16xf8E8M0FNU>,
                     %y: tensor<512x128xf4E2M1FN>,
                     %y_scale: tensor<16x128xf8E8M0FNU>) -> tensor<256x128xf32> {
    %acc = arith.constant dense<0.0> : tensor<256x128xf32>
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {blockscale.path = #blockscale.path<wgmma>}
         : tensor<256x512xf8E4M3FN>, tensor<256x16xf8E8M0FNU>,
           tensor<512x128xf4E2M1FN>, tensor<16x128xf8E8M0FNU>,
           tensor<256x128xf32>
    return %d : tensor<256x128xf32>
  }
}
