// Arguments and results that cannot be packed.

// RUN: blockscale-opt %s --blockscale-pack-buffers -split-input-file -verify-diagnostics

// expected-error@+1 {{argument #0: expected rows that end on a byte when packed, got 'tensor<4x5xf4E2M1FN>'}}
func.func @argument_odd(%x: tensor<4x5xf4E2M1FN>) {
  return
}

// -----

// expected-error@+1 {{argument #0: expected rows that end on a byte when packed, got 'tensor<4x30xf6E3M2FN>'}}
func.func @argument_fp6(%x: tensor<4x30xf6E3M2FN> {blockscale.packed}) {
  return
}

// -----

// expected-error@+1 {{argument #0: expected rows that end on a byte when packed, got 'tensor<f4E2M1FN>'}}
func.func @argument_scalar(%x: tensor<f4E2M1FN>) {
  return
}

// -----

// expected-error@+1 {{argument #0: expected a tensor of fp6 for 'blockscale.packed', got 'tensor<4x32xf8E5M2>'}}
func.func @packed_fp8(%x: tensor<4x32xf8E5M2> {blockscale.packed}) {
  return
}

// -----

// expected-error@+1 {{argument #0: expected a tensor of fp6 for 'blockscale.packed', got 'index'}}
func.func @packed_index(%x: index {blockscale.packed}) {
  return
}

// -----

// expected-error@+1 {{result #0: expected rows that end on a byte when packed, got 'tensor<2x1xf4E2M1FN>'}}
func.func @result_odd() -> tensor<2x1xf4E2M1FN> {
  %x = arith.constant dense<1.0> : tensor<2x1xf4E2M1FN>
  return %x : tensor<2x1xf4E2M1FN>
}

// -----

// The bits of a row are more than 2^63.
// expected-error@+1 {{argument #0: expected rows that end on a byte when packed, got 'tensor<1x9223372036854775804xf6E3M2FN>'}}
func.func @argument_without_end(
    %x: tensor<1x9223372036854775804xf6E3M2FN> {blockscale.packed}) {
  return
}

// -----

// expected-error@+1 {{argument #0: expected rows that end on a byte when packed, got 'tensor<9223372036854775806xf4E2M1FN>'}}
func.func @argument_fp4_without_end(%x: tensor<9223372036854775806xf4E2M1FN>) {
  return
}
