// RUN: blockscale-opt --split-input-file --verify-diagnostics %s

func.func @encoding(%s: tensor<4x2xf8E8M0FNU, 1>, %o: tensor<3xi32>) {
  // expected-error@+1 {{expected tensors without encoding, got 'tensor<4x2xf8E8M0FNU, 1 : i64>'}}
  %a = blockscale.swizzle_group_scales %s, %o : tensor<4x2xf8E8M0FNU, 1>, tensor<3xi32> to tensor<3x1x32x16xf8E8M0FNU>
  return
}

// -----

func.func @types(%s: tensor<4x2xf8E8M0FNU>, %o: tensor<3xi32>) {
  // expected-error@+1 {{expected source and result to have one element type, got 'tensor<4x2xf8E8M0FNU>' and 'tensor<3x1x32x16xf8E4M3FN>'}}
  %a = blockscale.swizzle_group_scales %s, %o : tensor<4x2xf8E8M0FNU>, tensor<3xi32> to tensor<3x1x32x16xf8E4M3FN>
  return
}

// -----

func.func @atoms_of_rows(%s: tensor<4x2xf8E8M0FNU>, %o: tensor<3xi32>) {
  // expected-error@+1 {{expected the shape (T + 127 G) / 128, ceil(K_s / 4), 32, 16 of the result, 3 in dimension 0, got 2}}
  %a = blockscale.swizzle_group_scales %s, %o : tensor<4x2xf8E8M0FNU>, tensor<3xi32> to tensor<2x1x32x16xf8E8M0FNU>
  return
}

// -----

func.func @rows_count(%s: tensor<4x2xf8E8M0FNU>, %o: tensor<3xi32>, %r: tensor<300xi32>) {
  // expected-error@+1 {{of the result, 5 in dimension 0, got 3}}
  %a = blockscale.swizzle_group_scales %s, %o rows(%r : tensor<300xi32>) : tensor<4x2xf8E8M0FNU>, tensor<3xi32> to tensor<3x1x32x16xf8E8M0FNU>
  return
}

// -----

func.func @atoms_of_blocks(%s: tensor<4x9xf8E8M0FNU>, %o: tensor<?xi32>) {
  // expected-error@+1 {{of the result, 3 in dimension 1, got 2}}
  %a = blockscale.swizzle_group_scales %s, %o : tensor<4x9xf8E8M0FNU>, tensor<?xi32> to tensor<?x2x32x16xf8E8M0FNU>
  return
}

// -----

func.func @no_blocks(%s: tensor<4x0xf8E8M0FNU>, %o: tensor<3xi32>) {
  // expected-error@+1 {{expected K_s and G to be at least 1, got 'tensor<4x0xf8E8M0FNU>' and 'tensor<3xi32>'}}
  %a = blockscale.swizzle_group_scales %s, %o : tensor<4x0xf8E8M0FNU>, tensor<3xi32> to tensor<3x0x32x16xf8E8M0FNU>
  return
}
