// A product of bf16 whose y is dequantized reads quantized elements, by the schedule, which
// nothing but kernels of `permute` and of the product needs memory for.

// RUN: blockscale-opt %s --split-input-file --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @weights(
// CHECK-SAME:    %[[X:.*]]: tensor<16x512xbf16>, %[[Y:.*]]: tensor<1024x512xf8E4M3FN>, %[[YS:.*]]: tensor<1024x16xf8E8M0FNU>)
// CHECK-NOT:     blockscale.dequantize
// CHECK:         %[[XN:.*]]:2 = blockscale.launch @kernels::@weights__permute blocks = [4, 1, 1] threads = [256, 1, 1] ins(%[[X]] : {{.*}}) outs({{.*}} : tensor<16x512xbf16>, tensor<4xi32>)
// CHECK:         %[[D:.*]]:2 = blockscale.launch @kernels::@weights__matmul {{.*}} ins(%[[XN]]#0, %[[Y]], %[[YS]] :
// CHECK:         %[[E:.*]] = blockscale.launch @kernels::@weights__exact_recomputation {{.*}} ins(%[[X]], %[[Y]], %[[YS]], %[[D]]#1 : {{.*}} updates outs(%[[D]]#0 :
// CHECK:         return %[[E]]

// x is 2^-25 too large, in the order of K chunks of 64 elements.

// CHECK-LABEL: gpu.func @weights__permute(
// CHECK-SAME:    memref<16x512xbf16>, %{{.*}}: memref<16x512xbf16>, %{{.*}}: memref<4xi32>) kernel
// CHECK:         nvvm.griddepcontrol launch_dependents
// CHECK:         vector.load {{.*}} : memref<16x512xbf16>, vector<8xbf16>
// CHECK-COUNT-4: arith.mulf {{.*}} : vector<2xbf16>
// CHECK-COUNT-4: vector.store {{.*}} : memref<16x512xbf16>, vector<2xbf16>
// CHECK:         nvvm.barrier #nvvm.reduction<or>
// CHECK-LABEL: gpu.func @weights__matmul(
// CHECK:         blockscale.warpgroup_mma_mixed {{.*}} types = <e4m3, e4m3, ue8m0, 32>

// What is computed anew is dequantized in registers for mma.sync, where each value
// that is not exact is rounded. x is copied to shared memory as bf16.

// CHECK-LABEL: gpu.func @weights__exact_recomputation(
// CHECK:         nvvm.barrier #nvvm.reduction<or>
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:             nvgpu.device_async_copy {{.*}} 8, {{.*}} : memref<16x512xbf16> to memref<32x128xbf16, #gpu.address_space<workgroup>>
// CHECK:           blockscale.tile_mma %{{.*}}, %[[NONE:.*]], %{{.*}}, %{{.*}}, %{{.*}} types = <bf16, e4m3, ue8m0, 32> instruction = <dequant_mma, 16x8x32, bf16, bf16, e4m3, ue8m0, 1>
// CHECK-SAME:        memref<32x256xi8, #gpu.address_space<workgroup>>, i8, memref<

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  func.func @weights(%x: tensor<16x512xbf16>, %y: tensor<1024x512xf8E4M3FN>,
                     %ys: tensor<1024x16xf8E8M0FNU>) -> tensor<16x1024xf32> {
    %acc = arith.constant dense<0.0> : tensor<16x1024xf32>
    %w = blockscale.dequantize %y, %ys : tensor<1024x512xf8E4M3FN>, tensor<1024x16xf8E8M0FNU> to tensor<1024x512xbf16>
    %e = tensor.empty() : tensor<512x1024xbf16>
    %wt = linalg.transpose ins(%w : tensor<1024x512xbf16>) outs(%e : tensor<512x1024xbf16>) permutation = [1, 0]
    %d = linalg.matmul {blockscale.path = #blockscale.path<wgmma>}
         ins(%x, %wt : tensor<16x512xbf16>, tensor<512x1024xbf16>) outs(%acc : tensor<16x1024xf32>) -> tensor<16x1024xf32>
    return %d : tensor<16x1024xf32>
  }
}

// -----

// With other users, bf16 values are in memory, too: for them.

// CHECK-LABEL: func.func @two_users(
// CHECK:         %[[W:.*]] = blockscale.launch @kernels::@two_users__dequantize
// CHECK:         blockscale.launch @kernels::@two_users__permute
// CHECK:         return %{{.*}}, %[[W]]

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  func.func @two_users(%x: tensor<16x512xbf16>, %y: tensor<1024x512xf8E4M3FN>, %ys: tensor<1024x16xf8E8M0FNU>)
      -> (tensor<16x1024xf32>, tensor<1024x512xbf16>) {
    %acc = arith.constant dense<0.0> : tensor<16x1024xf32>
    %w = blockscale.dequantize %y, %ys : tensor<1024x512xf8E4M3FN>, tensor<1024x16xf8E8M0FNU> to tensor<1024x512xbf16>
    %e = tensor.empty() : tensor<512x1024xbf16>
    %wt = linalg.transpose ins(%w : tensor<1024x512xbf16>) outs(%e : tensor<512x1024xbf16>) permutation = [1, 0]
    %d = linalg.matmul {blockscale.path = #blockscale.path<wgmma>}
         ins(%x, %wt : tensor<16x512xbf16>, tensor<512x1024xbf16>) outs(%acc : tensor<16x1024xf32>) -> tensor<16x1024xf32>
    return %d, %w : tensor<16x1024xf32>, tensor<1024x512xbf16>
  }
}

// -----

// A schedule that was written for other operands is none for these.

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  func.func @no_quantized(%x: tensor<16x512xbf16>, %y: tensor<512x1024xbf16>, %acc: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
    // expected-error@+1 {{expected a product with scales, or one with a y that a dequantize makes, for the kernel mixed_input}}
    %d = linalg.matmul {blockscale.path = #blockscale.path<wgmma>, blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 16, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}
         ins(%x, %y : tensor<16x512xbf16>, tensor<512x1024xbf16>) outs(%acc : tensor<16x1024xf32>) -> tensor<16x1024xf32>
    return %d : tensor<16x1024xf32>
  }
}
