// Chips without block-scaled instructions: dequant_mma has a sparse instruction, which reads the metadata.
// On sm_90a, dense products of wgmma are faster where they are large, unless there are three of them.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_80 --blockscale-select-path --split-input-file 2>%t.err | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path --split-input-file 2>%t.err | FileCheck %s --check-prefixes=CHECK,WGMMA

// NaN of y needs no more products, and blocks are those of the op.
// CHECK-LABEL: func.func @small(
// CHECK:         cf.assert
// CHECK:         blockscale.sparse_mma_scaled {{.*}}blockscale.path = #blockscale.path<dequant_mma>
// CHECK-NOT:     blockscale.mma_scaled
func.func @small(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x4xf8E8M0FNU>,
                 %y: tensor<128x8xf8E4M3FN>, %ys: tensor<4x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x4xf8E8M0FNU>, tensor<128x8xf8E4M3FN>, tensor<4x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

// WGMMA-LABEL: func.func @large(
// WGMMA:         blockscale.decompress
// WGMMA:         blockscale.mma_scaled {{.*}}blockscale.path = #blockscale.path<wgmma>
func.func @large(%x: tensor<8192x4096xf8E4M3FN>, %m: tensor<8192x1024xi8>, %xs: tensor<8192x256xf8E8M0FNU>,
                 %y: tensor<8192x8192xf6E2M3FN>, %ys: tensor<256x8192xf8E8M0FNU>, %acc: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>, legal_metadata}
      : tensor<8192x4096xf8E4M3FN>, tensor<8192x1024xi8>, tensor<8192x256xf8E8M0FNU>, tensor<8192x8192xf6E2M3FN>, tensor<256x8192xf8E8M0FNU>, tensor<8192x8192xf32>
  return %d : tensor<8192x8192xf32>
}

// -----

// CHECK-LABEL: func.func @infinity(
// CHECK-NOT:     blockscale.decompress
// CHECK:         blockscale.sparse_mma_scaled {{.*}}blockscale.path = #blockscale.path<dequant_mma>
func.func @infinity(%x: tensor<8192x4096xf8E4M3FN>, %m: tensor<8192x1024xi8>, %xs: tensor<8192x256xf8E8M0FNU>,
                    %y: tensor<8192x8192xf8E5M2>, %ys: tensor<256x8192xf8E8M0FNU>, %acc: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>, legal_metadata}
      : tensor<8192x4096xf8E4M3FN>, tensor<8192x1024xi8>, tensor<8192x256xf8E8M0FNU>, tensor<8192x8192xf8E5M2>, tensor<256x8192xf8E8M0FNU>, tensor<8192x8192xf32>
  return %d : tensor<8192x8192xf32>
}

// -----

// With y along K, the kernel of sparse wgmma takes it.

// CHECK-LABEL: func.func @contiguous(
// WGMMA:         blockscale.sparse_mma_scaled {{.*}}blockscale.path = #blockscale.path<wgmma>
func.func @contiguous(%x: tensor<8192x4096xf8E4M3FN>, %m: tensor<8192x1024xi8>, %xs: tensor<8192x256xf8E8M0FNU>,
                      %yt: tensor<64x8192xf8E5M2>, %ys: tensor<256x64xf8E8M0FNU>, %acc: tensor<8192x64xf32>) -> tensor<8192x64xf32> {
  %e = tensor.empty() : tensor<8192x64xf8E5M2>
  %y = linalg.transpose ins(%yt : tensor<64x8192xf8E5M2>) outs(%e : tensor<8192x64xf8E5M2>) permutation = [1, 0]
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>, legal_metadata}
      : tensor<8192x4096xf8E4M3FN>, tensor<8192x1024xi8>, tensor<8192x256xf8E8M0FNU>, tensor<8192x64xf8E5M2>, tensor<256x64xf8E8M0FNU>, tensor<8192x64xf32>
  return %d : tensor<8192x64xf32>
}
