// RUN: blockscale-opt --split-input-file --verify-diagnostics %s

func.func @x_type(%x: tensor<6x64xf32>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{operand #0 must be 2D tensor of f8E4M3FN type or f8E5M2 type or f6E3M2FN type or f6E2M3FN type or f4E2M1FN type values, but got 'tensor<6x64xf32>'}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf32>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @y_rank(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{operand #2 must be 3D tensor of}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @offsets_type(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi64>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{operand #4 must be 1D tensor of 32-bit signless integer values, but got 'tensor<3xi64>'}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi64>, tensor<6x8xf32>
  return
}

// -----

func.func @p1_encoding(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32, 1>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected tensors without encoding, got 'tensor<3xi32, 1 : i64>'}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32, 1>, tensor<6x8xf32>
  return
}

// -----

func.func @p2_rows_of_x_scale(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<5x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected x_scale to have the R of x, 6, got 5}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<5x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p2_groups_of_y_scale(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<2x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected y_scale to have the G of y, 3, got 2}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<2x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p2_columns_of_y_scale(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x9xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected y_scale to have the N of y, 8, got 9}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x9xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p2_no_rows(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<7x8xf32>) {
  // expected-error @+1 {{expected acc to have the R of x, 6, got 7}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<7x8xf32>
  return
}

// -----

func.func @p3_k(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x32x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected y to have the K of x, 64, got 32}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x32x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p3_blocks(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x1x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected y_scale to have the K_s of x_scale, 2, got 1}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x1x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p4_offsets(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<4xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected offsets to have the G of y, 3, got 4}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<4xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p4_group_scale(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{expected group_scale to have the G of y, 3, got 4}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc group_scale(%g : tensor<4xf32>) : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p4_bias_groups(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>, %b: tensor<1x8xf32>) {
  // expected-error @+1 {{expected bias to have the G of y, 3, got 1}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc bias(%b : tensor<1x8xf32>) : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p4_bias_columns(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected bias to have the N of y, 8, got 4}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc bias(%b : tensor<3x4xf32>) : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p4_rows(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>, %r: tensor<5xi32>) {
  // expected-error @+1 {{expected rows to have the T of acc, 6, got 5}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc rows(%r : tensor<5xi32>) : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p4_columns(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x4xf32>) {
  // expected-error @+1 {{expected acc to have the N of y, 8, got 4}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x4xf32>
  return
}

// -----

func.func @p5_groups(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<0x64x8xf8E5M2>, %ys: tensor<0x2x8xf8E8M0FNU>, %o: tensor<0xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected all sizes but R and T to be at least 1, got 0 in dimension 0 of y ('tensor<0x64x8xf8E5M2>')}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<0x64x8xf8E5M2>, tensor<0x2x8xf8E8M0FNU>, tensor<0xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p5_k(%x: tensor<6x0xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected all sizes but R and T to be at least 1, got 0 in dimension 1 of x ('tensor<6x0xf8E4M3FN>')}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x0xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p6(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E4M3FN>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected x_scale and y_scale to have one element type, got 'f8E8M0FNU' and 'f8E4M3FN'}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E4M3FN>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p7_multiple(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x3xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x3x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected K to be a multiple of K_s, got K = 64 and K_s = 3}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x3xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x3x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p7_block(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x4xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x4x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected a block size of 32 for 'f8E4M3FN' times 'f8E5M2' with 'f8E8M0FNU' scales, got 16}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x64xf8E4M3FN>, tensor<6x4xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x4x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p8_wrong(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected block_size to be K / K_s, 32, got 16}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {block_size = 16} : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p8_missing(%x: tensor<6x?xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x?x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected attribute 'block_size', because K is dynamic}}
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc : tensor<6x?xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x?x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @p9(%x: tensor<6x64xbf16>, %y: tensor<3x64x8xf16>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected x and y to have one element type, got 'bf16' and 'f16'}}
  %d = blockscale.grouped_matmul %x, %y, %o, %acc : tensor<6x64xbf16>, tensor<3x64x8xf16>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @plain_k(%x: tensor<6x64xbf16>, %y: tensor<3x32x8xbf16>, %o: tensor<3xi32>, %acc: tensor<6x8xf32>) {
  // expected-error @+1 {{expected y to have the K of x, 64, got 32}}
  %d = blockscale.grouped_matmul %x, %y, %o, %acc : tensor<6x64xbf16>, tensor<3x32x8xbf16>, tensor<3xi32>, tensor<6x8xf32>
  return
}

// -----

func.func @positions_type(%s: tensor<6x8xf32>, %p: tensor<5x2xi64>, %w: tensor<5x2xf32>) {
  // expected-error @+1 {{operand #1 must be 2D tensor of 32-bit signless integer values, but got 'tensor<5x2xi64>'}}
  %d = blockscale.combine_rows %s, %p, %w : tensor<6x8xf32>, tensor<5x2xi64>, tensor<5x2xf32> to tensor<5x8xbf16>
  return
}

// -----

func.func @w1_encoding(%s: tensor<6x8xf32>, %p: tensor<5x2xi32>, %w: tensor<5x2xf32, 1>) {
  // expected-error @+1 {{expected tensors without encoding, got 'tensor<5x2xf32, 1 : i64>'}}
  %d = blockscale.combine_rows %s, %p, %w : tensor<6x8xf32>, tensor<5x2xi32>, tensor<5x2xf32, 1> to tensor<5x8xbf16>
  return
}

// -----

func.func @w2_tokens(%s: tensor<6x8xf32>, %p: tensor<5x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @+1 {{expected weights to have the S of positions, 5, got 4}}
  %d = blockscale.combine_rows %s, %p, %w : tensor<6x8xf32>, tensor<5x2xi32>, tensor<4x2xf32> to tensor<5x8xbf16>
  return
}

// -----

func.func @w2_slots(%s: tensor<6x8xf32>, %p: tensor<5x2xi32>, %w: tensor<5x3xf32>) {
  // expected-error @+1 {{expected weights to have the J of positions, 2, got 3}}
  %d = blockscale.combine_rows %s, %p, %w : tensor<6x8xf32>, tensor<5x2xi32>, tensor<5x3xf32> to tensor<5x8xbf16>
  return
}

// -----

func.func @w2_result_rows(%s: tensor<6x8xf32>, %p: tensor<5x2xi32>, %w: tensor<5x2xf32>) {
  // expected-error @+1 {{expected the result to have the S of positions, 5, got 6}}
  %d = blockscale.combine_rows %s, %p, %w : tensor<6x8xf32>, tensor<5x2xi32>, tensor<5x2xf32> to tensor<6x8xbf16>
  return
}

// -----

func.func @w2_result_columns(%s: tensor<6x8xf32>, %p: tensor<5x2xi32>, %w: tensor<5x2xf32>) {
  // expected-error @+1 {{expected the result to have the N of source, 8, got 4}}
  %d = blockscale.combine_rows %s, %p, %w : tensor<6x8xf32>, tensor<5x2xi32>, tensor<5x2xf32> to tensor<5x4xbf16>
  return
}

// -----

func.func @w3(%s: tensor<6x8xf32>, %p: tensor<5x0xi32>, %w: tensor<5x0xf32>) {
  // expected-error @+1 {{expected N and J to be at least 1, got 0 in dimension 1 of positions ('tensor<5x0xi32>')}}
  %d = blockscale.combine_rows %s, %p, %w : tensor<6x8xf32>, tensor<5x0xi32>, tensor<5x0xf32> to tensor<5x8xbf16>
  return
}
