// --compare has the bound of products of linalg whose sums depend on their
// order. Operands are cubed, since sums of what --seed makes are exact.

// RUN: blockscale-run %s --device=sim --target=sm_90a --compare --seed=1 --entry=matmul -o %t.npy 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: blockscale-run %s --device=sim --target=sm_90a --compare --seed=1 --entry=batch -o %t.npy 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: blockscale-run %s --device=sim --target=sm_90a --compare --seed=1 --entry=chain -o %t.npy 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: blockscale-run %s --device=sim --target=sm_90a --compare --seed=1 --entry=maps -o %t.npy 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: {{^}}result #0: largest error {{[0-9.e+-]+}} at [{{[0-9, ]+}}], bound {{[0-9.e+-]+}}; relative error {{[0-9.e+-]+(, bound [0-9.e+-]+)?$}}

// Loops of f32 add in the order of the reference.
// RUN: blockscale-run %s --device=sim --target=sm_90a --compare --seed=1 --entry=loops -o %t.npy 2>&1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}result #0: largest error 0{{$}}

// An operand that is not exact: another number of bf16 where a border between
// two is near.
// RUN: blockscale-run %s --device=sim --target=sm_90a --compare --seed=1 --entry=inexact -o %t.npy 2>&1 | FileCheck %s --check-prefix=BOUND

func.func @matmul(%x: tensor<16x512xbf16>, %y: tensor<512x8xbf16>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %xs = arith.mulf %x, %x : tensor<16x512xbf16>
  %xc = arith.mulf %xs, %x : tensor<16x512xbf16>
  %ys = arith.mulf %y, %y : tensor<512x8xbf16>
  %yc = arith.mulf %ys, %y : tensor<512x8xbf16>
  %0 = linalg.matmul ins(%xc, %yc : tensor<16x512xbf16>, tensor<512x8xbf16>) outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

func.func @batch(%x: tensor<2x16x512xf16>, %y: tensor<2x512x8xf16>, %acc: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %xs = arith.mulf %x, %x : tensor<2x16x512xf16>
  %xc = arith.mulf %xs, %x : tensor<2x16x512xf16>
  %ys = arith.mulf %y, %y : tensor<2x512x8xf16>
  %yc = arith.mulf %ys, %y : tensor<2x512x8xf16>
  %0 = linalg.batch_matmul ins(%xc, %yc : tensor<2x16x512xf16>, tensor<2x512x8xf16>) outs(%acc : tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  return %0 : tensor<2x16x8xf32>
}

func.func @chain(%x: tensor<16x512xbf16>, %y: tensor<512x8xbf16>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %xs = arith.mulf %x, %x : tensor<16x512xbf16>
  %xc = arith.mulf %xs, %x : tensor<16x512xbf16>
  %ys = arith.mulf %y, %y : tensor<512x8xbf16>
  %yc = arith.mulf %ys, %y : tensor<512x8xbf16>
  %0 = linalg.matmul ins(%xc, %yc : tensor<16x512xbf16>, tensor<512x8xbf16>) outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = linalg.matmul ins(%xc, %yc : tensor<16x512xbf16>, tensor<512x8xbf16>) outs(%0 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %2 = arith.addf %1, %acc : tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}

// K is the first dimension of both.
func.func @maps(%x: tensor<512x16xbf16>, %y: tensor<512x8xbf16>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %xs = arith.mulf %x, %x : tensor<512x16xbf16>
  %xc = arith.mulf %xs, %x : tensor<512x16xbf16>
  %ys = arith.mulf %y, %y : tensor<512x8xbf16>
  %yc = arith.mulf %ys, %y : tensor<512x8xbf16>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
       ins(%xc, %yc : tensor<512x16xbf16>, tensor<512x8xbf16>) outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

func.func @loops(%x: tensor<5x64xf32>, %y: tensor<64x3xf32>, %acc: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<5x64xf32>, tensor<64x3xf32>) outs(%acc : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

func.func @inexact(%x: tensor<64x1024xbf16>, %y: tensor<1024x64xbf16>, %acc: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<64x1024xbf16>, tensor<1024x64xbf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = arith.truncf %0 : tensor<64x64xf32> to tensor<64x64xbf16>
  %2 = linalg.matmul ins(%1, %1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
