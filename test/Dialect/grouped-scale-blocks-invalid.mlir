// Constraints of coarse scales of grouped products, (P10) to (P12), of sparse ones, (X11), and of promoted sums with
// groups, (R1), (R4) and (R5).

// RUN: blockscale-opt --split-input-file --verify-diagnostics %s

func.func @p10_rows_of_x(%x: tensor<300x256xf8E4M3FN>, %xs: tensor<3x2xf32>, %y: tensor<3x256x8xf8E5M2>, %ys: tensor<3x2x1xf32>, %o: tensor<3xi32>, %acc: tensor<300x8xf32>) {
  // expected-error @+1 {{expected x_scale_block to have 1 or all rows, since groups of rows start anywhere, got <rows = 128, k = 128>}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {x_scale_block = #blockscale.scale_block<rows = 128, k = 128>} : tensor<300x256xf8E4M3FN>, tensor<3x2xf32>, tensor<3x256x8xf8E5M2>, tensor<3x2x1xf32>, tensor<3xi32>, tensor<300x8xf32>
  return
}

// -----

func.func @p10_rows_of_x_from_sizes(%x: tensor<300x256xf8E4M3FN>, %xs: tensor<3x2xf32>, %y: tensor<3x256x8xf8E5M2>, %ys: tensor<3x2x1xf32>, %o: tensor<3xi32>, %acc: tensor<300x8xf32>) {
  // expected-error @+1 {{expected x_scale to have one scale for 1 or all rows and 16, 32, 64, 128 or all elements along K of x, got 'tensor<3x2xf32>' with 'tensor<300x256xf8E4M3FN>'}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<300x256xf8E4M3FN>, tensor<3x2xf32>, tensor<3x256x8xf8E5M2>, tensor<3x2x1xf32>, tensor<3xi32>, tensor<300x8xf32>
  return
}

// -----

func.func @p10_groups_of_y_scale(%x: tensor<6x256xf8E4M3FN>, %xs: tensor<6x2xf32>, %y: tensor<3x256x8xf8E5M2>, %ys: tensor<2x2x8xf32>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected y_scale to have the G of y, 3, got 2}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x256xf8E4M3FN>, tensor<6x2xf32>, tensor<3x256x8xf8E5M2>, tensor<2x2x8xf32>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p10_type(%x: tensor<6x256xf8E4M3FN>, %xs: tensor<6x2xf32>, %y: tensor<3x256x8xf8E5M2>, %ys: tensor<3x2x8xf8E4M3FN>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected y_scale to be of type f8E8M0FNU or f32 for 'f8E5M2', got 'f8E4M3FN'}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x256xf8E4M3FN>, tensor<6x2xf32>, tensor<3x256x8xf8E5M2>, tensor<3x2x8xf8E4M3FN>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p10_block(%x: tensor<6x256xf8E4M3FN>, %xs: tensor<6x2xf32>, %y: tensor<3x256x8xf8E5M2>, %ys: tensor<3x16x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected y_scale_block to be <rows = 1, k = 32>, <rows = 1, k = 64>, <rows = 1, k = 128>, <rows = 1, k = all>, <rows = 128, k = 32>, <rows = 128, k = 64>, <rows = 128, k = 128>, <rows = 128, k = all>, <rows = all, k = 32>, <rows = all, k = 64>, <rows = all, k = 128> or <rows = all, k = all> for 'f8E5M2' with 'f8E8M0FNU' scales, got <rows = 1, k = 16>}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {y_scale_block = #blockscale.scale_block<rows = 1, k = 16>} : tensor<6x256xf8E4M3FN>, tensor<6x2xf32>, tensor<3x256x8xf8E5M2>, tensor<3x16x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p11_which(%x: tensor<?x256xf8E4M3FN>, %xs: tensor<?x2xf32>, %y: tensor<3x256x8xf8E5M2>, %ys: tensor<3x2x8xf32>, %o: tensor<3xi32>, %acc: tensor<?x8xf32>) {
  // expected-error @+1 {{expected attribute 'x_scale_block', because <rows = 1, k = 128> and <rows = all, k = 128> fit, got 'tensor<?x2xf32>' with 'tensor<?x256xf8E4M3FN>'}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<3x256x8xf8E5M2>, tensor<3x2x8xf32>, tensor<3xi32>, tensor<?x8xf32>
  return
}

// -----

func.func @p11_rows(%x: tensor<6x256xf8E4M3FN>, %xs: tensor<5x2xf32>, %y: tensor<3x256x8xf8E5M2>, %ys: tensor<3x2x8xf32>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected x_scale to have 6 along R, one for 1 of x, got 5 ('tensor<5x2xf32>' with 'tensor<6x256xf8E4M3FN>')}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>} : tensor<6x256xf8E4M3FN>, tensor<5x2xf32>, tensor<3x256x8xf8E5M2>, tensor<3x2x8xf32>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p11_columns(%x: tensor<6x320xf8E4M3FN>, %xs: tensor<6x3xf32>, %y: tensor<3x320x300xf8E5M2>, %ys: tensor<3x3x2xf32>, %o: tensor<3xi32>, %acc: tensor<6x300xf32>) {
  // expected-error @+1 {{expected y_scale to have 3 along N, one for 128 of y, got 2 ('tensor<3x3x2xf32>' with 'tensor<3x320x300xf8E5M2>')}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {y_scale_block = #blockscale.scale_block<rows = 128, k = 128>} : tensor<6x320xf8E4M3FN>, tensor<6x3xf32>, tensor<3x320x300xf8E5M2>, tensor<3x3x2xf32>, tensor<3xi32>, tensor<6x300xf32>
  return
}

// -----

func.func @p12_block_size(%x: tensor<6x256xf8E4M3FN>, %xs: tensor<6x2xf32>, %y: tensor<3x256x8xf8E5M2>, %ys: tensor<3x2x8xf32>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected no 'block_size' with 'x_scale_block', 'y_scale_block' or scales of type f32, got 128}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {block_size = 128} : tensor<6x256xf8E4M3FN>, tensor<6x2xf32>, tensor<3x256x8xf8E5M2>, tensor<3x2x8xf32>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @x11_sparse(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>, %y: tensor<128x8xf8E4M3FN>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no 'y_scale_block', since sparse products have no coarse scales, got #blockscale.scale_block<rows = 128, k = 128>}}
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>, y_scale_block = #blockscale.scale_block<rows = 128, k = 128>} : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return
}

// -----

func.func @r1_rank(%x: tensor<4x64xbf16>, %y: tensor<64x8xbf16>, %o: tensor<3xi32>, %acc: tensor<4x8xf32>) {
  // expected-error@+1 {{expected y of rank 3 with offsets, got 'tensor<64x8xbf16>'}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 32 offsets(%o : tensor<3xi32>) : tensor<4x64xbf16>, tensor<64x8xbf16>, tensor<4x8xf32>
  return
}

// -----

func.func @r1_groups(%x: tensor<4x64xbf16>, %y: tensor<2x64x8xbf16>, %o: tensor<3xi32>, %acc: tensor<4x8xf32>) {
  // expected-error@+1 {{expected offsets to have the G of y, 2, got 3}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 32 offsets(%o : tensor<3xi32>) : tensor<4x64xbf16>, tensor<2x64x8xbf16>, tensor<4x8xf32>
  return
}

// -----

func.func @r4_rows(%x: tensor<4x64xbf16>, %s: tensor<1x1xf32>, %y: tensor<3x64x8xbf16>, %o: tensor<3xi32>, %acc: tensor<4x8xf32>) {
  // expected-error@+1 {{expected x_factors for 1 or all rows, since groups of rows start anywhere, got <rows = 128, k = 64>}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 64 x_factors(%s : tensor<1x1xf32>) <rows = 128, k = 64> offsets(%o : tensor<3xi32>) : tensor<4x64xbf16>, tensor<3x64x8xbf16>, tensor<4x8xf32>
  return
}

// -----

func.func @r4_groups(%x: tensor<4x64xbf16>, %s: tensor<2x1x8xf32>, %y: tensor<3x64x8xbf16>, %o: tensor<3xi32>, %acc: tensor<4x8xf32>) {
  // expected-error@+1 {{expected dimension 0 of y_factors to be 3, got 2}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 64 y_factors(%s : tensor<2x1x8xf32>) <rows = 1, k = 64> offsets(%o : tensor<3xi32>) : tensor<4x64xbf16>, tensor<3x64x8xbf16>, tensor<4x8xf32>
  return
}

// -----

func.func @r5(%x: tensor<4x64xbf16>, %y: tensor<64x8xbf16>, %r: tensor<4xi32>, %acc: tensor<4x8xf32>) {
  // expected-error@+1 {{expected offsets with rows, group_scale or bias}}
  %d = blockscale.promoted_matmul %x, %y, %acc interval = 64 rows(%r : tensor<4xi32>) : tensor<4x64xbf16>, tensor<64x8xbf16>, tensor<4x8xf32>
  return
}
