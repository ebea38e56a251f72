// What this version does not have yet says so: exit code 1, nothing stored.

// RUN: rm -rf %t && mkdir -p %t
// DEFINE: %{run} = %python %S/Inputs/expect.py 1 blockscale-run %s --seed=1 -o %t/out.npy

// Types that no file holds.
// RUN: %{run} --entry=vector 2>&1 | FileCheck %s --check-prefix=TYPE -DWHAT="argument #1" -DTYPE="vector<4xf32>"
// RUN: %{run} --entry=i4 2>&1 | FileCheck %s --check-prefix=TYPE -DWHAT="argument #0" -DTYPE="tensor<2xi4>"
// RUN: %{run} --entry=encoding 2>&1 | FileCheck %s --check-prefix=TYPE -DWHAT="argument #0" -DTYPE="tensor<2xf32, 1 : i64>"
// RUN: %{run} --entry=complex 2>&1 | FileCheck %s --check-prefix=TYPE -DWHAT="result #0" -DTYPE="complex<f32>"
// TYPE: run-unsupported.mlir{{.*}}: not supported in this version: [[WHAT]] of type {{'?}}[[TYPE]]{{'?$}}
// TYPE-NOT: error:

// RUN: %{run} --entry=calls_external 2>&1 | FileCheck %s --check-prefix=EXTERNAL
// EXTERNAL: run-unsupported.mlir{{.*}}: not supported in this version: external function 'external'{{$}}
// EXTERNAL-NOT: error:

// An op on narrow floats is named.
// RUN: %{run} --entry=addf 2>&1 | FileCheck %s --check-prefix=ADDF
// ADDF: run-unsupported.mlir:{{[0-9]+}}:{{[0-9]+}}: error: not supported in this version: 'arith.addf' on 'f8E4M3FN'
// ADDF-NOT: error:

// (--native-only) What the function calls counts, what else is there does not.
// RUN: %{run} --entry=calls_mma --native-only 2>&1 | FileCheck %s --check-prefix=NATIVE
// NATIVE: run-unsupported.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}no block-scaled instruction on cpu
// NATIVE-NOT: error:
// RUN: test ! -e %t/out.npy

// RUN: blockscale-run %s --entry=main --native-only --seed=1 | count 1

func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}

func.func @vector(%a: f32, %b: vector<4xf32>) -> f32 {
  return %a : f32
}

func.func @i4(%a: tensor<2xi4>) -> tensor<2xi4> {
  return %a : tensor<2xi4>
}

func.func @encoding(%a: tensor<2xf32, 1>) -> f32 {
  %0 = arith.constant 1.0 : f32
  return %0 : f32
}

func.func @complex(%a: f32) -> complex<f32> {
  %0 = complex.create %a, %a : complex<f32>
  return %0 : complex<f32>
}

func.func private @external(f32) -> f32

func.func @calls_external(%a: f32) -> f32 {
  %0 = call @external(%a) : (f32) -> f32
  return %0 : f32
}

func.func @addf(%a: tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN> {
  %0 = arith.addf %a, %a : tensor<2xf8E4M3FN>
  return %0 : tensor<2xf8E4M3FN>
}

func.func private @mma(%x: tensor<2x32xf8E4M3FN>, %s: tensor<2x1xf8E8M0FNU>,
                       %y: tensor<32x2xf8E4M3FN>, %t: tensor<1x2xf8E8M0FNU>,
                       %acc: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %d = blockscale.mma_scaled %x, %s, %y, %t, %acc
       : tensor<2x32xf8E4M3FN>, tensor<2x1xf8E8M0FNU>,
         tensor<32x2xf8E4M3FN>, tensor<1x2xf8E8M0FNU>, tensor<2x2xf32>
  return %d : tensor<2x2xf32>
}

func.func @calls_mma(%x: tensor<2x32xf8E4M3FN>, %s: tensor<2x1xf8E8M0FNU>,
                     %y: tensor<32x2xf8E4M3FN>, %t: tensor<1x2xf8E8M0FNU>,
                     %acc: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = call @mma(%x, %s, %y, %t, %acc)
       : (tensor<2x32xf8E4M3FN>, tensor<2x1xf8E8M0FNU>, tensor<32x2xf8E4M3FN>,
          tensor<1x2xf8E8M0FNU>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// RUN: %{run} --entry=gather 2>&1 | FileCheck %s --check-prefix=GATHER
// RUN: %{run} --entry=gather --device=sim 2>&1 | FileCheck %s --check-prefix=GATHER
// GATHER: run-unsupported.mlir:{{[0-9]+}}:{{[0-9]+}}: error: not supported in this version: 'tensor.gather', expected a linalg.generic with tensor.extract, or tensor.insert_slice
// GATHER-NOT: error:
func.func @gather(%x: tensor<4x8xf32>, %i: tensor<3x1xi32>) -> tensor<3x8xf32> {
  %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<4x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}
