// Unknown attributes of the dialect are refused.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{unknown attribute 'blockscale.shedule', the nearest name is 'blockscale.schedule'}}
func.func @function() attributes {blockscale.shedule = 1} {
  return
}

// -----

// expected-error@+1 {{unknown attribute 'blockscale.packd', the nearest name is 'blockscale.packed'}}
func.func @argument(%x: tensor<4xf6E2M3FN> {blockscale.packd}) {
  return
}

// -----

// expected-error@+1 {{unknown attribute 'blockscale.multiple', the nearest name is 'blockscale.multiples'}}
func.func private @result() -> (tensor<4xf32> {blockscale.multiple = 1})

// -----

// expected-error@+1 {{unknown attribute 'blockscale.traget', the nearest name is 'blockscale.target'}}
module attributes {blockscale.traget = 1} {}

// -----

func.func @op(%x: f32) -> f32 {
  // expected-error@+1 {{unknown attribute 'blockscale.pth', the nearest name is 'blockscale.path'}}
  %y = arith.addf %x, %x {blockscale.pth = 1} : f32
  return %y : f32
}

// -----

// expected-error@+1 {{expected 'blockscale.rows' to be one of "few" "some" "tile" "any", got "many"}}
func.func private @rows() attributes {blockscale.rows = "many"}

// -----

// expected-error@+1 {{expected 'blockscale.rows' to be one of "few" "some" "tile" "any", got 16 : i64}}
func.func private @rows() attributes {blockscale.rows = 16}

// -----

// expected-error@+1 {{expected 'blockscale.rows' at a function}}
module attributes {blockscale.rows = "few"} {}
