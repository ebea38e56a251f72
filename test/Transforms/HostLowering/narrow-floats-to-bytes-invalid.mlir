// Ops that access bits of elements are refused, except arith.bitcast.

// RUN: blockscale-opt %s --blockscale-narrow-floats-to-bytes --split-input-file -verify-diagnostics

func.func @addf(%a: f8E4M3FN) {
  // expected-error@+1 {{not supported in this version: 'arith.addf' on 'f8E4M3FN'}}
  %0 = arith.addf %a, %a : f8E4M3FN
  return
}

// -----

func.func @cmpf(%a: f4E2M1FN) {
  // expected-error@+1 {{not supported in this version: 'arith.cmpf' on 'f4E2M1FN'}}
  %0 = arith.cmpf oeq, %a, %a : f4E2M1FN
  return
}

// -----

func.func @negf_vector(%a: vector<4xf6E3M2FN>) {
  // expected-error@+1 {{not supported in this version: 'arith.negf' on 'f6E3M2FN'}}
  %0 = arith.negf %a : vector<4xf6E3M2FN>
  return
}

// -----

func.func @truncf(%a: f32) {
  // expected-error@+1 {{not supported in this version: 'arith.truncf' on 'f8E4M3FN'}}
  %0 = arith.truncf %a : f32 to f8E4M3FN
  return
}

// -----

func.func @sitofp(%a: i32) {
  // expected-error@+1 {{not supported in this version: 'arith.sitofp' on 'f8E5M2'}}
  %0 = arith.sitofp %a : i32 to f8E5M2
  return
}

// -----

func.func @fptosi(%a: f6E2M3FN) {
  // expected-error@+1 {{not supported in this version: 'arith.fptosi' on 'f6E2M3FN'}}
  %0 = arith.fptosi %a : f6E2M3FN to i32
  return
}

// -----

func.func @absf(%a: tensor<4xf8E4M3FN>) {
  // expected-error@+1 {{not supported in this version: 'math.absf' on 'f8E4M3FN'}}
  %0 = math.absf %a : tensor<4xf8E4M3FN>
  return
}

// -----

// Reads elements of one type as another; with f4, of one size as another.

func.func @tensor_bitcast(%a: tensor<4xf8E4M3FN>) {
  // expected-error@+1 {{not supported in this version: 'tensor.bitcast' on 'f8E4M3FN'}}
  %0 = tensor.bitcast %a : tensor<4xf8E4M3FN> to tensor<4xi8>
  return
}

// -----

func.func @memref_view(%a: memref<64xi8>, %i: index) {
  // expected-error@+1 {{not supported in this version: 'memref.view' on 'f4E2M1FN'}}
  %0 = memref.view %a[%i][] : memref<64xi8> to memref<4xf4E2M1FN>
  return
}

// -----

func.func @vector_bitcast(%a: vector<8xf4E2M1FN>) {
  // expected-error@+1 {{not supported in this version: 'vector.bitcast' on 'f4E2M1FN'}}
  %0 = vector.bitcast %a : vector<8xf4E2M1FN> to vector<4xi8>
  return
}

// -----

func.func @vector_reduction(%a: vector<4xf8E4M3FN>) {
  // expected-error@+1 {{not supported in this version: 'vector.reduction' on 'f8E4M3FN'}}
  %0 = vector.reduction <add>, %a : vector<4xf8E4M3FN> into f8E4M3FN
  return
}

// -----

func.func @vector_fma(%a: vector<4xf8E5M2>) {
  // expected-error@+1 {{not supported in this version: 'vector.fma' on 'f8E5M2'}}
  %0 = vector.fma %a, %a, %a : vector<4xf8E5M2>
  return
}

// -----

// Adds, although most ops of its dialect only move.

func.func @memref_atomic_rmw(%m: memref<4xf8E4M3FN>, %i: index, %v: f8E4M3FN) {
  // expected-error@+1 {{not supported in this version: 'memref.atomic_rmw' on 'f8E4M3FN'}}
  %0 = memref.atomic_rmw addf %v, %m[%i]
       : (f8E4M3FN, memref<4xf8E4M3FN>) -> f8E4M3FN
  return
}

// -----

// On bytes it would multiply integers.

func.func @linalg_matmul(
    %a: tensor<4x8xf8E4M3FN>, %b: tensor<8x2xf8E5M2>,
    %c: tensor<4x2xf32>) {
  // expected-error@+1 {{not supported in this version: 'linalg.matmul' on 'f8E4M3FN'}}
  %0 = linalg.matmul
       ins(%a, %b : tensor<4x8xf8E4M3FN>, tensor<8x2xf8E5M2>)
       outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// On bytes it would convert integers.

func.func @linalg_copy_that_converts(
    %a: tensor<4xf8E4M3FN>, %b: tensor<4xf32>) {
  // expected-error@+1 {{not supported in this version: 'linalg.copy' on 'f8E4M3FN'}}
  %0 = linalg.copy ins(%a : tensor<4xf8E4M3FN>)
       outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// A format that this project does not decode.

func.func @extf_of_f8E4M3FNUZ(%a: f8E4M3FNUZ) {
  // expected-error@+1 {{not supported in this version: 'arith.extf' on 'f8E4M3FNUZ'}}
  %0 = arith.extf %a : f8E4M3FNUZ to f32
  return
}

// -----

// To be expanded first.

func.func @extf(%a: f4E2M1FN) {
  // expected-error@+1 {{not supported in this version: 'arith.extf' on 'f4E2M1FN'}}
  %0 = arith.extf %a : f4E2M1FN to f32
  return
}

// -----

func.func @scaling_extf(%a: f4E2M1FN, %s: f8E8M0FNU) {
  // expected-error@+1 {{not supported in this version: 'arith.scaling_extf' on 'f4E2M1FN'}}
  %0 = arith.scaling_extf %a, %s : f4E2M1FN, f8E8M0FNU to f32
  return
}

// -----

// To be decomposed first.

func.func @mma_scaled(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) {
  // expected-error@+1 {{not supported in this version: 'blockscale.mma_scaled' on 'f8E4M3FN'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return
}

// -----

func.func @dense_resource() {
  // expected-error@+1 {{not supported in this version: a dense resource of floats of 8 bits or less}}
  %0 = arith.constant dense_resource<elements> : tensor<4xf8E4M3FN>
  return
}

{-#
  dialect_resources: {
    builtin: { elements: "0x0100000001020304" }
  }
#-}

// -----

// Complex numbers of narrow floats cannot become complex numbers of bytes.

func.func @dense_complex() {
  // expected-error@+1 {{not supported in this version: 'arith.constant' on 'f8E4M3FN'}}
  %0 = arith.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f8E4M3FN>>
  return
}
