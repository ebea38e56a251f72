// Sparse products become dense ones, with a remark, and with what keeps their meaning at NaN and
// infinity of y.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-select-path --split-input-file --verify-diagnostics | FileCheck %s

// fp4 has neither. Blocks of 32 become blocks of 16, with each scale twice.
// CHECK-DAG:   #[[$TWICE:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 2)>
// CHECK-DAG:   #[[$TWICE_Y:.*]] = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
// CHECK-LABEL: func.func @repeated_scales(
// CHECK-SAME:    %[[X:.*]]: tensor<4x64xf4E2M1FN>, %[[M:.*]]: tensor<4x16xi8>, %[[XS:.*]]: tensor<4x4xf8E4M3FN>,
// CHECK-SAME:    %[[Y:.*]]: tensor<128x8xf4E2M1FN>,
// CHECK:         %[[DENSE:.*]] = blockscale.decompress %[[X]], %[[M]] {granularity = #blockscale.granularity<2:4>}
// CHECK:         %[[XS2:.*]] = linalg.generic {indexing_maps = [#[[$TWICE]], #{{.*}}]{{.*}} ins(%[[XS]] :
// CHECK:         %[[YS2:.*]] = linalg.generic {indexing_maps = [#[[$TWICE_Y]], #{{.*}}]
// CHECK:         blockscale.mma_scaled %[[DENSE]], %[[XS2]], %[[Y]], %[[YS2]], %{{.*}} {block_size = 16 : i64, blockscale.path = #blockscale.path<tcgen05>}
// CHECK-NOT:     blockscale.mma_scaled
func.func @repeated_scales(%x: tensor<4x64xf4E2M1FN>, %m: tensor<4x16xi8>, %xs: tensor<4x4xf8E4M3FN>,
                           %y: tensor<128x8xf4E2M1FN>, %ys: tensor<4x8xf8E4M3FN>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @+1 {{no kernel with a sparse instruction for it on sm_100a; x is decompressed for a dense product with blocks of 16}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf4E2M1FN>, tensor<4x16xi8>, tensor<4x4xf8E4M3FN>, tensor<128x8xf4E2M1FN>, tensor<4x8xf8E4M3FN>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @nan(
// CHECK-COUNT-2: blockscale.mma_scaled
// CHECK-NOT:     blockscale.mma_scaled
func.func @nan(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x4xf8E8M0FNU>,
               %y: tensor<128x8xf8E4M3FN>, %ys: tensor<4x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @+1 {{x is decompressed for a dense product, and what NaN of y contributes is counted by one more product, which a y of fp6 or fp4, or one that the program quantizes, does not need}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x4xf8E8M0FNU>, tensor<128x8xf8E4M3FN>, tensor<4x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @infinity(
// CHECK-COUNT-3: blockscale.mma_scaled
// CHECK-NOT:     blockscale.mma_scaled
func.func @infinity(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x4xf8E8M0FNU>,
                    %y: tensor<128x8xf8E5M2>, %ys: tensor<4x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @+1 {{and what NaN and infinity of y contribute is counted by two more products}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x4xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

// Quantized elements are finite, and so is this constant.
// CHECK-LABEL: func.func @finite(
// CHECK-COUNT-2: blockscale.mma_scaled
// CHECK-NOT:     blockscale.mma_scaled
func.func @finite(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x4xf8E8M0FNU>,
                  %v: tensor<8x128xf32>, %acc: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %q, %qs = blockscale.quantize %v {block_size = 32 : i64} : tensor<8x128xf32> to tensor<8x128xf8E5M2>, tensor<8x4xf8E8M0FNU>
  %y_init = tensor.empty() : tensor<128x8xf8E5M2>
  %y = linalg.transpose ins(%q : tensor<8x128xf8E5M2>) outs(%y_init : tensor<128x8xf8E5M2>) permutation = [1, 0]
  %ys_init = tensor.empty() : tensor<4x8xf8E8M0FNU>
  %ys = linalg.transpose ins(%qs : tensor<8x4xf8E8M0FNU>) outs(%ys_init : tensor<4x8xf8E8M0FNU>) permutation = [1, 0]
  // expected-remark @+1 {{x is decompressed for a dense product}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x4xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<4x8xf32>
  %c = arith.constant dense<1.0> : tensor<128x8xf8E5M2>
  // expected-remark @+1 {{x is decompressed for a dense product}}
  %e = blockscale.sparse_mma_scaled %x, %m, %xs, %c, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x4xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d, %e : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

gpu.module @kernels {
  gpu.func @kernel(%m: vector<4x8xi8>) kernel {
    // expected-error @+1 {{not supported in this version: 'blockscale.tile_metadata' in a kernel}}
    %t = blockscale.tile_metadata %m : vector<4x8xi8> to vector<1x1x128x16xi8>
    gpu.return
  }
}

// -----

// dequant_mma has an instruction that reads metadata. It is chosen where it is requested, and where no
// dense instruction has scales.
// CHECK-LABEL: func.func @requested(
// CHECK-NOT:     blockscale.decompress
// CHECK:         blockscale.sparse_mma_scaled {{.*}}blockscale.path = #blockscale.path<dequant_mma>
func.func @requested(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>,
                     %y: tensor<128x8xf6E2M3FN>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @+1 {{the attribute 'blockscale.path' does not request the path tcgen05; dequantized to bf16 for mma.sp.m16n8k32.f32.bf16.bf16.f32, which reads the metadata}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc
      {granularity = #blockscale.granularity<2:4>, blockscale.path = #blockscale.path<dequant_mma>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @refused(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>,
                   %y: tensor<128x8xf6E2M3FN>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @+2 {{the attribute 'blockscale.path' does not request the path tcgen05}}
  // expected-error @+1 {{expected a path for tensors on sm_100a, got wgmma}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc
      {granularity = #blockscale.granularity<2:4>, blockscale.path = #blockscale.path<wgmma>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

// Instructions of a warp are emulated.
gpu.module @kernels {
  gpu.func @step(%a: vector<4xi32>, %c: vector<4xf32>, %e: i32, %out: memref<32x4xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-remark @+1 {{no mma.sp.kind::mxf4.block_scale.scale_vec::2X on sm_100a; computed with the instruction in software, the instruction is there on sm_120a, sm_121a}}
    %d = blockscale.mma_sp <mma_sync, 16x8x128, mxf4, e2m1, e2m1, ue8m0, 2, pairs> %a, %a, %c, %e, %e[0, 0], %e[0, 0]
    vector.store %d, %out[%c0, %c0] : memref<32x4xf32>, vector<4xf32>
    gpu.return
  }
}
