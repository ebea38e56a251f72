// RUN: blockscale-opt %s --blockscale-expand-casts --split-input-file -verify-diagnostics

func.func @rounding(%x: f32) -> f8E4M3FN {
  // expected-error@+1 {{not supported in this version: expected 'arith.truncf' to round to_nearest_even, got toward_zero}}
  %0 = arith.truncf %x toward_zero : f32 to f8E4M3FN
  return %0 : f8E4M3FN
}

// -----

func.func @scale_of_e4m3(%x: f4E2M1FN, %s: f8E4M3FN) -> f32 {
  // expected-error@+1 {{not supported in this version: expected 'arith.scaling_extf' with a scale of f8E8M0FNU, f16, bf16, f32 or f64, got 'f8E4M3FN'}}
  %0 = arith.scaling_extf %x, %s : f4E2M1FN, f8E4M3FN to f32
  return %0 : f32
}

// -----

func.func @unknown_type(%x: f8E4M3FNUZ, %s: f8E8M0FNU) -> f32 {
  // expected-error@+1 {{not supported in this version: 'arith.scaling_extf' on 'f8E4M3FNUZ'}}
  %0 = arith.scaling_extf %x, %s : f8E4M3FNUZ, f8E8M0FNU to f32
  return %0 : f32
}
