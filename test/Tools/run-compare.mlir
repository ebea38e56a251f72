// --compare holds results against the reference, and each cell's error against
// its bound.

// DEFINE: %{run} = blockscale-run %s --device=sim --compare --seed=1 -o %t.npy

// RUN: %{run} --entry=exact 2>&1 | FileCheck %s --check-prefix=EXACT
// EXACT: {{^}}result #0: largest error 0{{$}}

// RUN: %{run} --entry=chain 2>&1 | FileCheck %s --check-prefix=MEASURED
// RUN: %{run} --entry=moved 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: %{run} --entry=elementwise 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: %{run} --entry=quotient 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: %{run} --entry=calls 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: {{^}}result #0: largest error {{[0-9.e+-]+}} at [{{[0-9]+}}, {{[0-9]+}}], bound {{[0-9.e+-]+}}; relative error {{[0-9.e+-]+(, bound [0-9.e+-]+)?$}}

// Only errors of a product that is quantized are measured.
// RUN: %{run} --entry=requantized 2>&1 | FileCheck %s --check-prefix=MEASURED
// MEASURED: {{^}}result #0: largest error {{[0-9.e+-]+}} at [{{[0-9, ]+}}], bound {{[0-9.e+-]+}}; relative error {{[0-9.e+-]+}}, bound {{[0-9.e+-]+$}}
// RUN: %{run} --entry=elementwise 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: relative error {{[0-9.e+-]+$}}

// The exact sum, 2^-9 + 2^-32, is an f32, but the code of 2^-9 is subnormal and
// counts as 2^-6.
// RUN: %{run} --entry=subnormal --target=sm_120a --numerics=exact 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: %{run} --entry=subnormal --target=sm_120a --numerics=hardware 2>&1 | FileCheck %s --check-prefix=SUBNORMAL
// SUBNORMAL: {{^}}result #0: largest error 2.32830644e-10 at [0, 0], bound {{[0-9.e+-]+}}; relative error {{[0-9.e+-]+(, bound [0-9.e+-]+)?$}}

// Exact quantized elements.
// RUN: %{run} --entry=quantized 2>&1 | FileCheck %s --check-prefix=QUANTIZED
// QUANTIZED: {{^}}result #0: equal{{$}}

// Through other ops no bound is known.
// RUN: %python %S/Inputs/expect.py 1 blockscale-run %s --device=sim --compare --seed=1 --entry=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: result #0: element [{{[0-9]+, [0-9]+}}]: expected {{.*}}, got {{.*}}, error {{.*}}, bound 0 (no bound is known through 'arith.bitcast', so results must be equal)

func.func @exact() -> tensor<2x2xf32> {
  %x = arith.constant dense<1.0> : tensor<2x64xf8E4M3FN>
  %y = arith.constant dense<1.0> : tensor<64x2xf8E4M3FN>
  %s = arith.constant dense<2.0> : tensor<2x2xf8E8M0FNU>
  %acc = arith.constant dense<0.5> : tensor<2x2xf32>
  %d = blockscale.mma_scaled %x, %s, %y, %s, %acc : tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU>,
       tensor<64x2xf8E4M3FN>, tensor<2x2xf8E8M0FNU>, tensor<2x2xf32>
  return %d : tensor<2x2xf32>
}

func.func @chain(%x: tensor<20x96xf8E4M3FN>, %s: tensor<20x3xf8E8M0FNU>, %y: tensor<96x10xf8E5M2>,
                 %t: tensor<3x10xf8E8M0FNU>, %acc: tensor<20x10xf32>) -> tensor<20x10xf32> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : tensor<20x96xf8E4M3FN>, tensor<20x3xf8E8M0FNU>,
       tensor<96x10xf8E5M2>, tensor<3x10xf8E8M0FNU>, tensor<20x10xf32>
  %d = blockscale.mma_scaled %x, %s, %y, %t, %c : tensor<20x96xf8E4M3FN>, tensor<20x3xf8E8M0FNU>,
       tensor<96x10xf8E5M2>, tensor<3x10xf8E8M0FNU>, tensor<20x10xf32>
  return %d : tensor<20x10xf32>
}

func.func @moved(%x: tensor<20x96xf8E4M3FN>, %s: tensor<20x3xf8E8M0FNU>, %y: tensor<96x10xf8E5M2>,
                 %t: tensor<3x10xf8E8M0FNU>, %acc: tensor<20x10xf32>) -> tensor<10x20xf32> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : tensor<20x96xf8E4M3FN>, tensor<20x3xf8E8M0FNU>,
       tensor<96x10xf8E5M2>, tensor<3x10xf8E8M0FNU>, tensor<20x10xf32>
  %e = tensor.empty() : tensor<10x20xf32>
  %d = linalg.transpose ins(%c : tensor<20x10xf32>) outs(%e : tensor<10x20xf32>) permutation = [1, 0]
  return %d : tensor<10x20xf32>
}

func.func @elementwise(%x: tensor<20x96xf8E4M3FN>, %s: tensor<20x3xf8E8M0FNU>, %y: tensor<96x10xf8E5M2>,
                       %t: tensor<3x10xf8E8M0FNU>, %acc: tensor<20x10xf32>) -> tensor<20x10xf32> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : tensor<20x96xf8E4M3FN>, tensor<20x3xf8E8M0FNU>,
       tensor<96x10xf8E5M2>, tensor<3x10xf8E8M0FNU>, tensor<20x10xf32>
  %three = arith.constant dense<3.0> : tensor<20x10xf32>
  %p = arith.mulf %c, %three : tensor<20x10xf32>
  %q = arith.subf %p, %acc : tensor<20x10xf32>
  %n = arith.negf %q : tensor<20x10xf32>
  %r = arith.maximumf %n, %three : tensor<20x10xf32>
  return %r : tensor<20x10xf32>
}

func.func @subnormal() -> tensor<1x1xf32> {
  %x = arith.constant dense<"0x0100000000000000000000000000000000000000000000000000000000000000"> : tensor<1x32xf8E4M3FN>
  %y = arith.constant dense<1.0> : tensor<32x1xf8E4M3FN>
  %s = arith.constant dense<1.0> : tensor<1x1xf8E8M0FNU>
  %acc = arith.constant dense<0x2F800000> : tensor<1x1xf32>
  %d = blockscale.mma_scaled %x, %s, %y, %s, %acc : tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>,
       tensor<32x1xf8E4M3FN>, tensor<1x1xf8E8M0FNU>, tensor<1x1xf32>
  return %d : tensor<1x1xf32>
}

func.func @quantized(%x: tensor<4x6xf8E4M3FN>) -> tensor<6x4xf8E4M3FN> {
  %e = tensor.empty() : tensor<6x4xf8E4M3FN>
  %d = linalg.transpose ins(%x : tensor<4x6xf8E4M3FN>) outs(%e : tensor<6x4xf8E4M3FN>) permutation = [1, 0]
  return %d : tensor<6x4xf8E4M3FN>
}

func.func @quotient(%x: tensor<20x96xf8E4M3FN>, %s: tensor<20x3xf8E8M0FNU>, %y: tensor<96x10xf8E5M2>,
                   %t: tensor<3x10xf8E8M0FNU>, %acc: tensor<20x10xf32>) -> tensor<20x10xf32> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : tensor<20x96xf8E4M3FN>, tensor<20x3xf8E8M0FNU>,
       tensor<96x10xf8E5M2>, tensor<3x10xf8E8M0FNU>, tensor<20x10xf32>
  %three = arith.constant dense<3.0> : tensor<20x10xf32>
  %d = arith.divf %c, %three : tensor<20x10xf32>
  return %d : tensor<20x10xf32>
}

func.func @unknown(%x: tensor<20x96xf8E4M3FN>, %s: tensor<20x3xf8E8M0FNU>, %y: tensor<96x10xf8E5M2>,
                   %t: tensor<3x10xf8E8M0FNU>, %acc: tensor<20x10xf32>) -> tensor<20x10xf32> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : tensor<20x96xf8E4M3FN>, tensor<20x3xf8E8M0FNU>,
       tensor<96x10xf8E5M2>, tensor<3x10xf8E8M0FNU>, tensor<20x10xf32>
  %sign = arith.constant dense<0x80000000> : tensor<20x10xi32>
  %bits = arith.bitcast %c : tensor<20x10xf32> to tensor<20x10xi32>
  %flipped = arith.xori %bits, %sign : tensor<20x10xi32>
  %d = arith.bitcast %flipped : tensor<20x10xi32> to tensor<20x10xf32>
  return %d : tensor<20x10xf32>
}

func.func private @product(%x: tensor<20x96xf8E4M3FN>, %s: tensor<20x3xf8E8M0FNU>, %y: tensor<96x10xf8E5M2>,
                           %t: tensor<3x10xf8E8M0FNU>, %acc: tensor<20x10xf32>) -> tensor<20x10xf32> {
  %d = blockscale.mma_scaled %x, %s, %y, %t, %acc : tensor<20x96xf8E4M3FN>, tensor<20x3xf8E8M0FNU>,
       tensor<96x10xf8E5M2>, tensor<3x10xf8E8M0FNU>, tensor<20x10xf32>
  return %d : tensor<20x10xf32>
}

func.func @calls(%x: tensor<20x96xf8E4M3FN>, %s: tensor<20x3xf8E8M0FNU>, %y: tensor<96x10xf8E5M2>,
                 %t: tensor<3x10xf8E8M0FNU>, %acc: tensor<20x10xf32>) -> tensor<20x10xf32> {
  %d = call @product(%x, %s, %y, %t, %acc) : (tensor<20x96xf8E4M3FN>, tensor<20x3xf8E8M0FNU>,
       tensor<96x10xf8E5M2>, tensor<3x10xf8E8M0FNU>, tensor<20x10xf32>) -> tensor<20x10xf32>
  return %d : tensor<20x10xf32>
}

func.func @requantized(%x: tensor<20x256xf8E4M3FN>, %s: tensor<20x8xf8E8M0FNU>, %y: tensor<256x64xf8E5M2>,
                       %t: tensor<8x64xf8E8M0FNU>, %z: tensor<64x10xf8E5M2>, %u: tensor<2x10xf8E8M0FNU>,
                       %acc: tensor<20x64xf32>, %bias: tensor<20x10xf32>) -> tensor<20x10xf32> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : tensor<20x256xf8E4M3FN>, tensor<20x8xf8E8M0FNU>,
       tensor<256x64xf8E5M2>, tensor<8x64xf8E8M0FNU>, tensor<20x64xf32>
  %q, %qs = blockscale.quantize %c {block_size = 32 : i64} : tensor<20x64xf32>
            to tensor<20x64xf8E4M3FN>, tensor<20x2xf8E8M0FNU>
  %d = blockscale.mma_scaled %q, %qs, %z, %u, %bias : tensor<20x64xf8E4M3FN>, tensor<20x2xf8E8M0FNU>,
       tensor<64x10xf8E5M2>, tensor<2x10xf8E8M0FNU>, tensor<20x10xf32>
  return %d : tensor<20x10xf32>
}
