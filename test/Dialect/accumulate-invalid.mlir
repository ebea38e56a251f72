// What is no licence.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected a chunk of 32, 64 or 128 terms, got 256}}
func.func private @f() attributes {a = #blockscale.accumulate<chunk = 256>}

// -----

// expected-error@+1 {{expected a chunk of 32, 64 or 128 terms, got 0}}
func.func private @f() attributes {a = #blockscale.accumulate<chunk = 0, rebase>}

// -----

// expected-error@+1 {{expected a chunk of 32, 64 or 128 terms, got -32}}
func.func private @f() attributes {a = #blockscale.accumulate<chunk = -32>}

// -----

// expected-error@+1 {{expected 'rebase'}}
func.func private @f() attributes {a = #blockscale.accumulate<chunk = 32, shift>}

// -----

// expected-error@+1 {{expected 'chunk'}}
func.func private @f() attributes {a = #blockscale.accumulate<rebase>}

// -----

func.func @other_attribute(
    %x: tensor<16x32xf8E4M3FN>, %xs: tensor<16x1xf8E8M0FNU>,
    %y: tensor<32x8xf8E4M3FN>, %ys: tensor<1x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-error@+1 {{attribute 'accumulate' failed to satisfy constraint: how exactly a product adds up its terms}}
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc {accumulate = 128}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf8E4M3FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
