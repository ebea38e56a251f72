// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

func.func @rebase_h1_rank(%x: tensor<96xf8E4M3FN>, %s: tensor<3xf8E8M0FNU>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of f8E4M3FN type or f8E5M2 type or f6E3M2FN type or f6E2M3FN type or f4E2M1FN type values}}
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64} : tensor<96xf8E4M3FN>, tensor<3xf8E8M0FNU> to tensor<96xf8E4M3FN>, tensor<1xf32>
  return
}

// -----

func.func @rebase_h1_encoding(%x: tensor<4x96xf8E4M3FN, "a">, %s: tensor<4x3xf8E8M0FNU>) {
  // expected-error@+1 {{expected tensors without encoding, got 'tensor<4x96xf8E4M3FN, "a">'}}
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64} : tensor<4x96xf8E4M3FN, "a">, tensor<4x3xf8E8M0FNU> to tensor<4x96xf8E4M3FN>, tensor<4x1xf32>
  return
}

// -----

func.func @rebase_h1_scales(%x: tensor<4x96xf4E2M1FN>, %s: tensor<4x6xf8E4M3FN>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of f8E8M0FNU type values}}
  %r, %f = blockscale.rebase %x, %s {block_size = 16 : i64} : tensor<4x96xf4E2M1FN>, tensor<4x6xf8E4M3FN> to tensor<4x96xf8E4M3FN>, tensor<4x1xf32>
  return
}

// -----

func.func @rebase_h2_rows(%x: tensor<4x96xf8E4M3FN>, %s: tensor<5x3xf8E8M0FNU>) {
  // expected-error@+1 {{expected scales to have the rows of elements, and 3 columns, got 'tensor<5x3xf8E8M0FNU>' with 'tensor<4x96xf8E4M3FN>'}}
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64} : tensor<4x96xf8E4M3FN>, tensor<5x3xf8E8M0FNU> to tensor<4x96xf8E4M3FN>, tensor<4x1xf32>
  return
}

// -----

func.func @rebase_h2_rank(%x: tensor<?x?xf8E4M3FN>, %s: tensor<1x4x3xf8E8M0FNU>) {
  // expected-error@+1 {{expected scales to have the rows of elements, and any number of columns, got 'tensor<1x4x3xf8E8M0FNU>' with 'tensor<?x?xf8E4M3FN>'}}
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64} : tensor<?x?xf8E4M3FN>, tensor<1x4x3xf8E8M0FNU> to tensor<?x?xf8E4M3FN>, tensor<?x1xf32>
  return
}

// -----

func.func @rebase_h2_shape(%x: tensor<?x96xf8E4M3FN>, %s: tensor<4x3xf8E8M0FNU>) {
  // expected-error@+1 {{expected rebased to have the shape of elements, got 'tensor<4x96xf8E4M3FN>' with 'tensor<?x96xf8E4M3FN>'}}
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64} : tensor<?x96xf8E4M3FN>, tensor<4x3xf8E8M0FNU> to tensor<4x96xf8E4M3FN>, tensor<?x1xf32>
  return
}

// -----

func.func @rebase_h2_row_scales(%x: tensor<4x96xf8E4M3FN>, %s: tensor<4x3xf8E8M0FNU>) {
  // expected-error@+1 {{expected row_scales to have the rows of elements, and 1 column, got 'tensor<4x3xf32>' with 'tensor<4x96xf8E4M3FN>'}}
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64} : tensor<4x96xf8E4M3FN>, tensor<4x3xf8E8M0FNU> to tensor<4x96xf8E4M3FN>, tensor<4x3xf32>
  return
}

// -----

func.func @rebase_h3_block(%x: tensor<4x96xf8E4M3FN>, %s: tensor<4x2xf8E8M0FNU>) {
  // expected-error@+1 {{expected a block size of 16, 32, 64 or 128, got 48}}
  %r, %f = blockscale.rebase %x, %s {block_size = 48 : i64} : tensor<4x96xf8E4M3FN>, tensor<4x2xf8E8M0FNU> to tensor<4x96xf8E4M3FN>, tensor<4x1xf32>
  return
}

// -----

func.func @rebase_h3_columns(%x: tensor<4x100xf8E4M3FN>, %s: tensor<4x3xf8E8M0FNU>) {
  // expected-error@+1 {{expected scales to have the rows of elements, and 4 columns, got 'tensor<4x3xf8E8M0FNU>' with 'tensor<4x100xf8E4M3FN>'}}
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64} : tensor<4x100xf8E4M3FN>, tensor<4x3xf8E8M0FNU> to tensor<4x100xf8E4M3FN>, tensor<4x1xf32>
  return
}

// -----

func.func @rebase_h4_type(%x: tensor<4x96xf8E5M2>, %s: tensor<4x3xf8E8M0FNU>) {
  // expected-error@+1 {{expected rebased elements of 'f8E5M2' for 'f8E5M2', got 'f8E4M3FN'}}
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64} : tensor<4x96xf8E5M2>, tensor<4x3xf8E8M0FNU> to tensor<4x96xf8E4M3FN>, tensor<4x1xf32>
  return
}

// -----

func.func @rebase_h5_size(%x: tensor<0x96xf8E4M3FN>, %s: tensor<0x3xf8E8M0FNU>) {
  // expected-error@+1 {{expected all sizes to be at least 1, got 'tensor<0x96xf8E4M3FN>' for elements}}
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64} : tensor<0x96xf8E4M3FN>, tensor<0x3xf8E8M0FNU> to tensor<0x96xf8E4M3FN>, tensor<0x1xf32>
  return
}
