// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-select-path=native-only --verify-diagnostics

func.func @native(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>,
                  %y: tensor<128x8xf6E2M3FN>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{no kernel with a sparse block-scaled instruction in this version}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}
