// RUN: blockscale-opt --split-input-file --verify-diagnostics %s

func.func @type(%x: tensor<4x32xf64>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or fixed-length vector of f32, f16 or bf16, of rank 1 or more, but got 'tensor<4x32xf64>'}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<4x32xf64> to tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>
  return
}

// -----

func.func @q1(%x: tensor<4x32xf32>) {
  // expected-error @+1 {{expected all to be tensors or all to be vectors, got 'tensor<4x32xf32>' and 'vector<4x32xf8E4M3FN>'}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<4x32xf32> to vector<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>
  return
}

// -----

func.func @q1_encoding(%x: tensor<4x32xf32, 1>) {
  // expected-error @+1 {{expected tensors without encoding, got 'tensor<4x32xf32, 1 : i64>'}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<4x32xf32, 1> to tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>
  return
}

// -----

func.func @q1_amax(%x: tensor<4x32xf32>) {
  // expected-error @+1 {{expected the largest magnitude to be tensor<f32> with 'tensor<4x32xf32>', got 'f32'}}
  %c, %s, %a = blockscale.quantize %x {block_size = 32 : i64} : tensor<4x32xf32> to tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>, f32
  return
}

// -----

func.func @q2(%x: tensor<4x32xf32>) {
  // expected-error @+1 {{expected elements to have the shape of x, got 'tensor<4x64xf8E4M3FN>' with 'tensor<4x32xf32>'}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<4x32xf32> to tensor<4x64xf8E4M3FN>, tensor<4x1xf8E8M0FNU>
  return
}

// -----

func.func @q2_inferred(%x: tensor<?x32xf32>) {
  // expected-error @+1 {{expected elements to have the shape of x, got 'tensor<4x32xf8E4M3FN>' with 'tensor<?x32xf32>'}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<?x32xf32> to tensor<4x32xf8E4M3FN>, tensor<?x1xf8E8M0FNU>
  return
}

// -----

func.func @q3_rows(%x: tensor<4x32xf32>) {
  // expected-error @+1 {{expected scales to have the rows of x, got 'tensor<3x1xf8E8M0FNU>' with 'tensor<4x32xf32>'}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<4x32xf32> to tensor<4x32xf8E4M3FN>, tensor<3x1xf8E8M0FNU>
  return
}

// -----

func.func @q3_blocks(%x: tensor<4x96xf32>) {
  // expected-error @+1 {{expected scales of 3 blocks of 32 for K = 96, got 2 ('tensor<4x2xf8E8M0FNU>' with 'tensor<4x96xf32>')}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<4x96xf32> to tensor<4x96xf8E4M3FN>, tensor<4x2xf8E8M0FNU>
  return
}

// -----

func.func @q3_dynamic(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{expected K_s to be dynamic where K is, got 'tensor<4x2xf8E8M0FNU>' with 'tensor<4x?xf32>'}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<4x?xf32> to tensor<4x?xf8E4M3FN>, tensor<4x2xf8E8M0FNU>
  return
}

// -----

func.func @q4_scale(%x: tensor<4x32xf32>) {
  // expected-error @+1 {{expected scales of type f8E8M0FNU for 'f8E5M2', got 'f8E4M3FN'}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<4x32xf32> to tensor<4x32xf8E5M2>, tensor<4x1xf8E4M3FN>
  return
}

// -----

func.func @q4_block(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{expected a block size of 16 or 32 or 64 for 'f4E2M1FN' with 'f8E8M0FNU' scales, got 8}}
  %c, %s = blockscale.quantize %x {block_size = 8 : i64} : tensor<4x64xf32> to tensor<4x64xf4E2M1FN>, tensor<4x8xf8E8M0FNU>
  return
}

// -----

func.func @q4_zero(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{expected a block size of 32 or 64 for 'f8E4M3FN' with 'f8E8M0FNU' scales, got 0}}
  %c, %s = blockscale.quantize %x {block_size = 0 : i64} : tensor<4x64xf32> to tensor<4x64xf8E4M3FN>, tensor<4x1xf8E8M0FNU>
  return
}

// -----

func.func @q5_rule(%x: tensor<4x16xf32>) {
  // expected-error @+1 {{expected no 'rule' for scales of type 'f8E4M3FN'}}
  %c, %s = blockscale.quantize %x {block_size = 16 : i64, rule = #blockscale.scale_rule<ceil>} : tensor<4x16xf32> to tensor<4x16xf4E2M1FN>, tensor<4x1xf8E4M3FN>
  return
}

// -----

func.func @q5_tensor_scale(%x: tensor<4x32xf32>, %g: f32) {
  // expected-error @+1 {{expected no tensor scale for scales of type 'f8E8M0FNU'}}
  %c, %s = blockscale.quantize %x tensor_scale(%g) {block_size = 32 : i64} : tensor<4x32xf32>, f32 to tensor<4x32xf4E2M1FN>, tensor<4x1xf8E8M0FNU>
  return
}

// -----

func.func @q6_multiple(%x: tensor<4x100xf32>) {
  // expected-error @+1 {{expected K to be a multiple of the block size, 32, or the attribute 'pad', got K = 100}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<4x100xf32> to tensor<4x100xf8E4M3FN>, tensor<4x4xf8E8M0FNU>
  return
}

// -----

func.func @q6_empty(%x: tensor<0x32xf32>) {
  // expected-error @+1 {{expected all sizes to be at least 1, got 'tensor<0x32xf32>' for x}}
  %c, %s = blockscale.quantize %x {block_size = 32 : i64} : tensor<0x32xf32> to tensor<0x32xf8E4M3FN>, tensor<0x1xf8E8M0FNU>
  return
}

// -----

func.func @e2(%c: tensor<4x32xf8E4M3FN>, %s: tensor<4x1xf8E8M0FNU>) {
  // expected-error @+1 {{expected the result to have the shape of elements, got 'tensor<4x64xf32>' with 'tensor<4x32xf8E4M3FN>'}}
  %y = blockscale.dequantize %c, %s : tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU> to tensor<4x64xf32>
  return
}

// -----

func.func @e3(%c: tensor<4x64xf8E4M3FN>, %s: tensor<4x4xf8E8M0FNU>) {
  // expected-error @+1 {{expected scales of 2 blocks of 32 for K = 64, got 4}}
  %y = blockscale.dequantize %c, %s {block_size = 32 : i64} : tensor<4x64xf8E4M3FN>, tensor<4x4xf8E8M0FNU> to tensor<4x64xf32>
  return
}

// -----

func.func @e4(%c: tensor<4x64xf8E4M3FN>, %s: tensor<4x4xf8E8M0FNU>) {
  // expected-error @+1 {{expected a block size of 32 or 64 for 'f8E4M3FN' with 'f8E8M0FNU' scales, got 16}}
  %y = blockscale.dequantize %c, %s : tensor<4x64xf8E4M3FN>, tensor<4x4xf8E8M0FNU> to tensor<4x64xf32>
  return
}

// -----

func.func @no_block_size(%c: tensor<4x100xf8E4M3FN>, %s: tensor<4x3xf8E8M0FNU>) {
  // expected-error @+1 {{expected attribute 'block_size', because K is dynamic or no multiple of K_s}}
  %y = blockscale.dequantize %c, %s : tensor<4x100xf8E4M3FN>, tensor<4x3xf8E8M0FNU> to tensor<4x100xf32>
  return
}
