// RUN: blockscale-opt --split-input-file --verify-diagnostics %s

func.func @metadata_type(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi16>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor or fixed-length vector of i8, of rank 1 or more, but got 'tensor<4x16xi16>'}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi16>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x_type(%x: tensor<4x64xf32>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{operand #0 must be tensor or vector of fp8, fp6 or fp4, of rank 2 or 3, but got 'tensor<4x64xf32>'}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf32>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x1_kind(%x: tensor<4x64xf8E4M3FN>, %m: vector<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected all to be tensors or all to be vectors, got 'tensor<4x64xf8E4M3FN>' and 'vector<4x16xi8>'}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, vector<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x1_encoding(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8, 1>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected tensors without encoding, got 'tensor<4x16xi8, 1 : i64>'}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8, 1>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x2_metadata(%x: tensor<4x64xf8E4M3FN>, %m: tensor<1x4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected metadata to have rank 2, as x has, got rank 3}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<1x4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x2_scale(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<1x2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected y_scale to have rank 2, as y has, got rank 3}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<1x2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x2_acc(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<1x4x8xf32>) {
  // expected-error @+1 {{expected acc to have rank 2, the larger one of x and y, got rank 3}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<1x4x8xf32>
  return
}

// -----

func.func @x3_metadata(%x: tensor<4x64xf8E4M3FN>, %m: tensor<5x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected metadata to have the M of x, 4, got 5 ('tensor<5x16xi8>' with 'tensor<4x64xf8E4M3FN>')}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<5x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x3_x_scale(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<5x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected x_scale to have the M of x, 4, got 5}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<5x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x3_y_scale(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x9xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected y_scale to have the N of y, 8, got 9}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x9xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x3_batch(%x: tensor<2x4x64xf8E4M3FN>, %m: tensor<3x4x16xi8>, %xs: tensor<2x4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<2x4x8xf32>) {
  // expected-error @+1 {{expected metadata to have the batch of x, 2, got 3}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<2x4x64xf8E4M3FN>, tensor<3x4x16xi8>, tensor<2x4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<2x4x8xf32>
  return
}

// -----

func.func @x4_y(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected y to have the K of x, 128, got 64 ('tensor<64x8xf8E5M2>' with 'tensor<4x64xf8E4M3FN>')}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x4_metadata(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x8xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected metadata to have the K of x, 128, got 64 ('tensor<4x8xi8>' with 'tensor<4x64xf8E4M3FN>')}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x8xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x4_metadata_pairs(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected metadata to have the K of x, 128, got 256}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<pairs>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x4_metadata_dynamic(%x: tensor<4x?xf8E4M3FN>, %m: tensor<4x8xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected metadata to have the K of y, 128, got 64}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x?xf8E4M3FN>, tensor<4x8xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x4_scales(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<4x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected y_scale to have the K_s of x_scale, 2, got 4}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x5(%x: tensor<2x4x64xf8E4M3FN>, %m: tensor<2x4x16xi8>, %xs: tensor<2x4x2xf8E8M0FNU>, %y: tensor<3x128x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %acc: tensor<3x4x8xf32>) {
  // expected-error @+1 {{expected the batches of x and y to be equal or one of them to be 1, got 2 and 3}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<2x4x64xf8E4M3FN>, tensor<2x4x16xi8>, tensor<2x4x2xf8E8M0FNU>, tensor<3x128x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3x4x8xf32>
  return
}

// -----

func.func @x5_acc(%x: tensor<2x4x64xf8E4M3FN>, %m: tensor<2x4x16xi8>, %xs: tensor<2x4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<3x4x8xf32>) {
  // expected-error @+1 {{expected acc to have the batch of x and y, 2, got 3}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<2x4x64xf8E4M3FN>, tensor<2x4x16xi8>, tensor<2x4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<3x4x8xf32>
  return
}

// -----

func.func @x6_m(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<5x8xf32>) {
  // expected-error @+1 {{expected acc to have the M of x, 4, got 5}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<5x8xf32>
  return
}

// -----

func.func @x6_n(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x9xf32>) {
  // expected-error @+1 {{expected acc to have the N of y, 8, got 9}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x9xf32>
  return
}

// -----

func.func @x7(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x0xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected all sizes to be at least 1, got 'tensor<4x0xi8>' for metadata}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x0xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x8(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E4M3FN>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected x_scale and y_scale to have one element type, got 'f8E8M0FNU' and 'f8E4M3FN'}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E4M3FN>, tensor<4x8xf32>
  return
}

// -----

func.func @x9_multiple(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x3xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<3x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected K to be a multiple of K_s, got K = 128 and K_s = 3}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x3xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<3x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x9_block(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x1xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<1x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a block size of 32 or 64 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 128}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x1xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x9_block_fp4(%x: tensor<4x64xf4E2M1FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E4M3FN>, %y: tensor<128x8xf4E2M1FN>, %ys: tensor<2x8xf8E4M3FN>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a block size of 16 or 32 for 'f4E2M1FN' times 'f4E2M1FN' with 'f8E4M3FN' scales, got 64}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf4E2M1FN>, tensor<4x16xi8>, tensor<4x2xf8E4M3FN>, tensor<128x8xf4E2M1FN>, tensor<2x8xf8E4M3FN>, tensor<4x8xf32>
  return
}

// -----

func.func @x9_types(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E4M3FN>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E4M3FN>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected scales of type f8E8M0FNU for 'f8E4M3FN' times 'f8E5M2', got 'f8E4M3FN'}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E4M3FN>, tensor<128x8xf8E5M2>, tensor<2x8xf8E4M3FN>, tensor<4x8xf32>
  return
}

// -----

func.func @x10_required(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x?xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<?x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected attribute 'block_size', because K_s is dynamic}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x?xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<?x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x10_required_k(%x: tensor<4x?xf8E4M3FN>, %m: tensor<4x?xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<?x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected attribute 'block_size', because K is dynamic}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>} : tensor<4x?xf8E4M3FN>, tensor<4x?xi8>, tensor<4x2xf8E8M0FNU>, tensor<?x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x10_value(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected block_size to be K / K_s, 64, got 32}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {block_size = 32, granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @x10_multiple(%x: tensor<4x48xf8E4M3FN>, %m: tensor<4x12xi8>, %xs: tensor<4x?xf8E8M0FNU>, %y: tensor<96x8xf8E5M2>, %ys: tensor<?x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected K to be a multiple of block_size, 64, got 96}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {block_size = 64, granularity = #blockscale.granularity<2:4>} : tensor<4x48xf8E4M3FN>, tensor<4x12xi8>, tensor<4x?xf8E8M0FNU>, tensor<96x8xf8E5M2>, tensor<?x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @sparsify_type(%v: tensor<4x8xf64>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or fixed-length vector of f32, f16 or bf16, of rank 1 or more, but got 'tensor<4x8xf64>'}}
  %s = blockscale.sparsify %v {granularity = #blockscale.granularity<2:4>} : tensor<4x8xf64>
  return
}

// -----

func.func @z1(%v: tensor<4x8xf32, 1>) {
  // expected-error @+1 {{expected tensors without encoding, got 'tensor<4x8xf32, 1 : i64>'}}
  %s = blockscale.sparsify %v {granularity = #blockscale.granularity<2:4>} : tensor<4x8xf32, 1>
  return
}

// -----

func.func @z2_zero(%v: tensor<4x0xf32>) {
  // expected-error @+1 {{expected all sizes to be at least 1, got 'tensor<4x0xf32>' for the source}}
  %s = blockscale.sparsify %v {granularity = #blockscale.granularity<2:4>} : tensor<4x0xf32>
  return
}

// -----

func.func @z2(%v: tensor<4x6xf32>) {
  // expected-error @+1 {{expected the last size of the source to be a multiple of 4, the elements of a chunk, got 6}}
  %s = blockscale.sparsify %v {granularity = #blockscale.granularity<2:4>} : tensor<4x6xf32>
  return
}

// -----

func.func @z2_pairs(%v: vector<12xf32>) {
  // expected-error @+1 {{expected the last size of the source to be a multiple of 8, the elements of a chunk, got 12}}
  %s = blockscale.sparsify %v {granularity = #blockscale.granularity<pairs>} : vector<12xf32>
  return
}

// -----

func.func @k1(%d: tensor<4x64xf8E4M3FN>) {
  // expected-error @+1 {{expected all to be tensors or all to be vectors, got 'tensor<4x64xf8E4M3FN>' and 'vector<4x8xi8>'}}
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN> to tensor<4x32xf8E4M3FN>, vector<4x8xi8>
  return
}

// -----

func.func @k2(%d: tensor<4x64xf8E4M3FN>) {
  // expected-error @+1 {{expected the source and elements to have one element type, got 'f8E4M3FN' and 'f8E5M2'}}
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN> to tensor<4x32xf8E5M2>, tensor<4x8xi8>
  return
}

// -----

func.func @k3_rank(%d: tensor<4x64xf8E4M3FN>) {
  // expected-error @+1 {{expected elements to have the rank of the source, got 'tensor<32xf8E4M3FN>' with 'tensor<4x64xf8E4M3FN>'}}
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN> to tensor<32xf8E4M3FN>, tensor<4x8xi8>
  return
}

// -----

func.func @k3_rows(%d: tensor<4x64xf8E4M3FN>) {
  // expected-error @+1 {{expected metadata to have the rows of the source, got 'tensor<5x8xi8>' with 'tensor<4x64xf8E4M3FN>'}}
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN> to tensor<4x32xf8E4M3FN>, tensor<5x8xi8>
  return
}

// -----

func.func @k3_elements(%d: tensor<4x64xf8E4M3FN>) {
  // expected-error @+1 {{expected 2 logical elements for each kept element of elements, and 1 for each of the source, got 'tensor<4x64xf8E4M3FN>' with 'tensor<4x64xf8E4M3FN>'}}
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf8E4M3FN> to tensor<4x64xf8E4M3FN>, tensor<4x8xi8>
  return
}

// -----

func.func @k3_metadata(%d: tensor<4x64xf8E4M3FN>) {
  // expected-error @+1 {{expected 16 logical elements for each byte of metadata of metadata, and 1 for each of the source, got 'tensor<4x8xi8>' with 'tensor<4x64xf8E4M3FN>'}}
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<pairs>} : tensor<4x64xf8E4M3FN> to tensor<4x32xf8E4M3FN>, tensor<4x8xi8>
  return
}

// -----

func.func @k3_dynamic(%d: tensor<?x64xf8E4M3FN>) {
  // expected-error @+1 {{expected elements to have the type 'tensor<?x32xf8E4M3FN>', got 'tensor<4x32xf8E4M3FN>'}}
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>} : tensor<?x64xf8E4M3FN> to tensor<4x32xf8E4M3FN>, tensor<4x8xi8>
  return
}

// -----

func.func @k4(%d: tensor<4x60xf8E4M3FN>) {
  // expected-error @+1 {{expected the last size of the source to be a multiple of 8, the elements of a byte of metadata, got 60}}
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>} : tensor<4x60xf8E4M3FN> to tensor<4x32xf8E4M3FN>, tensor<4x8xi8>
  return
}

// -----

func.func @r1(%x: tensor<4x32xf8E4M3FN>, %m: tensor<4x8xi8>) {
  // expected-error @+1 {{expected all to be tensors or all to be vectors, got 'vector<4x64xf8E4M3FN>' and 'tensor<4x32xf8E4M3FN>'}}
  %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>} : tensor<4x32xf8E4M3FN>, tensor<4x8xi8> to vector<4x64xf8E4M3FN>
  return
}

// -----

func.func @r2(%x: tensor<4x32xf8E4M3FN>, %m: tensor<4x8xi8>) {
  // expected-error @+1 {{expected the result and elements to have one element type, got 'f8E5M2' and 'f8E4M3FN'}}
  %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>} : tensor<4x32xf8E4M3FN>, tensor<4x8xi8> to tensor<4x64xf8E5M2>
  return
}

// -----

func.func @r3(%x: tensor<4x32xf8E4M3FN>, %m: tensor<4x4xi8>) {
  // expected-error @+1 {{expected 8 logical elements for each byte of metadata of metadata, and 1 for each of the result, got 'tensor<4x4xi8>' with 'tensor<4x64xf8E4M3FN>'}}
  %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>} : tensor<4x32xf8E4M3FN>, tensor<4x4xi8> to tensor<4x64xf8E4M3FN>
  return
}

// -----

func.func @r3_dynamic(%x: tensor<4x32xf8E4M3FN>, %m: tensor<4x4xi8>) {
  // expected-error @+1 {{expected 8 logical elements for each byte of metadata of metadata, and 2 for each of elements, got 'tensor<4x4xi8>' with 'tensor<4x32xf8E4M3FN>'}}
  %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>} : tensor<4x32xf8E4M3FN>, tensor<4x4xi8> to tensor<4x?xf8E4M3FN>
  return
}

// -----

func.func @r4(%x: tensor<4x32xf8E4M3FN>, %m: tensor<0x8xi8>) {
  // expected-error @+1 {{expected all sizes to be at least 1, got 'tensor<0x8xi8>' for metadata}}
  %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>} : tensor<4x32xf8E4M3FN>, tensor<0x8xi8> to tensor<4x64xf8E4M3FN>
  return
}

// -----

func.func @n1(%s: tensor<4x8xi8>) {
  // expected-error @+1 {{expected all to be tensors or all to be vectors, got 'tensor<4x8xi8>' and 'vector<1x1x128x16xi8>'}}
  %t = blockscale.tile_metadata %s : tensor<4x8xi8> to vector<1x1x128x16xi8>
  return
}

// -----

func.func @n1_rank(%s: tensor<8xi8>) {
  // expected-error @+1 {{expected the source to have rank 2 or 3, got 'tensor<8xi8>'}}
  %t = blockscale.tile_metadata %s : tensor<8xi8> to tensor<1x1x128x16xi8>
  return
}

// -----

func.func @n2(%s: tensor<200x36xi8>) {
  // expected-error @+1 {{expected the result to have shape 3x2x128x16, the atoms of 'tensor<200x36xi8>', got 'tensor<2x3x128x16xi8>'}}
  %t = blockscale.tile_metadata %s : tensor<200x36xi8> to tensor<2x3x128x16xi8>
  return
}

// -----

func.func @n2_dynamic(%s: tensor<?x36xi8>) {
  // expected-error @+1 {{expected the result to have shape 3x?x128x16, the atoms of 'tensor<?x36xi8>', got 'tensor<3x1x128x16xi8>'}}
  %t = blockscale.tile_metadata %s : tensor<?x36xi8> to tensor<3x1x128x16xi8>
  return
}

// -----

func.func @n3(%s: tensor<0x36xi8>) {
  // expected-error @+1 {{expected all sizes to be at least 1, got 'tensor<0x36xi8>' for the source}}
  %t = blockscale.tile_metadata %s : tensor<0x36xi8> to tensor<3x0x128x16xi8>
  return
}

// -----

func.func @v2(%t: tensor<3x2x128x16xi8>) {
  // expected-error @+1 {{expected the source to have shape 3x3x128x16, the atoms of 'tensor<300x36xi8>', got 'tensor<3x2x128x16xi8>'}}
  %m = blockscale.untile_metadata %t : tensor<3x2x128x16xi8> to tensor<300x36xi8>
  return
}

// -----

func.func @v4(%t: tensor<3x2x128x16xi8>) {
  // expected-error @+1 {{expected 1 sizes, one for each dynamic size of 'tensor<?x36xi8>', got 0}}
  %m = blockscale.untile_metadata %t : tensor<3x2x128x16xi8> to tensor<?x36xi8>
  return
}

// -----

// expected-error @+2 {{expected the granularity 2:4 or pairs, got 4:8}}
// expected-error @+1 {{failed to parse BlockScale_GranularityAttr parameter}}
func.func private @granularity() attributes {g = #blockscale.granularity<4:8>}

// -----

// expected-error @+2 {{expected the granularity 2:4 or pairs, got quads}}
// expected-error @+1 {{failed to parse BlockScale_GranularityAttr parameter}}
func.func private @granularity() attributes {g = #blockscale.granularity<quads>}
