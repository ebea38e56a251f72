// RUN: blockscale-opt %s --blockscale-expand-math --split-input-file -verify-diagnostics

func.func @f64(%x: f64) -> f64 {
  // expected-error@+1 {{not supported in this version: 'math.exp' on 'f64' on a GPU target}}
  %0 = math.exp %x : f64
  return %0 : f64
}

// -----

func.func @unknown(%x: f32) -> f32 {
  // expected-error@+1 {{not supported in this version: 'math.acosh' on 'f32' on a GPU target}}
  %0 = math.acosh %x : f32
  return %0 : f32
}

// -----

func.func @many_dimensions(%x: vector<2x2xf32>) -> vector<2x2xf32> {
  // expected-error@+1 {{not supported in this version: 'math.sin' on 'vector<2x2xf32>' on a GPU target}}
  %0 = math.sin %x : vector<2x2xf32>
  return %0 : vector<2x2xf32>
}
