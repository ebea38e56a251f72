// --compare carries bounds through ops of linalg, conversions and reductions.

// DEFINE: %{run} = blockscale-run %s --device=sim --target=sm_90a --compare --seed=1 -o %t.npy

// RUN: %{run} --entry=generic 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: %{run} --entry=named 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: %{run} --entry=moved 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: %{run} --entry=sum 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: %{run} --entry=largest 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: {{^}}result #0: largest error {{[0-9.e+-]+}} at [{{[0-9, ]+}}], bound {{[0-9.e+-]+}}; relative error {{[0-9.e+-]+(, bound [0-9.e+-]+)?$}}

// Of 20480 values some lie so near to a border between two f16 that the device
// has the other one: 1 and 2 are steps there.
// RUN: %{run} --entry=halves 2>&1 | FileCheck %s --check-prefix=HALVES
// HALVES: {{^}}result #0: largest error 2 at [{{[0-9, ]+}}], bound 2; relative error {{[0-9.e+-]+(, bound [0-9.e+-]+)?$}}

// RUN: %{run} --entry=bfloats 2>&1 | FileCheck %s --check-prefix=BFLOATS
// BFLOATS: {{^}}result #0: largest error {{[0-9.e+-]+}}{{$}}

!x = tensor<128x256xf8E4M3FN>
!s = tensor<128x8xf8E8M0FNU>
!y = tensor<256x160xf8E5M2>
!t = tensor<8x160xf8E8M0FNU>
!d = tensor<128x160xf32>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

func.func @generic(%x: !x, %s: !s, %y: !y, %t: !t, %acc: !d, %bias: tensor<160xf32>) -> !d {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : !x, !s, !y, !t, !d
  %e = tensor.empty() : !d
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
       ins(%c, %bias : !d, tensor<160xf32>) outs(%e : !d) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %three = arith.constant 3.0 : f32
    %p = arith.addf %a, %b : f32
    %is_positive = arith.cmpf ogt, %p, %zero : f32
    %relu = arith.select %is_positive, %p, %zero : f32
    %q = arith.divf %relu, %three : f32
    linalg.yield %q : f32
  } -> !d
  return %r : !d
}

func.func @named(%x: !x, %s: !s, %y: !y, %t: !t, %acc: !d) -> !d {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : !x, !s, !y, !t, !d
  %e = tensor.empty() : !d
  %add = linalg.add ins(%c, %acc : !d, !d) outs(%e : !d) -> !d
  %max = linalg.max ins(%add, %acc : !d, !d) outs(%e : !d) -> !d
  %mul = linalg.mul ins(%max, %acc : !d, !d) outs(%e : !d) -> !d
  %sub = linalg.elementwise kind=#linalg.elementwise_kind<sub> ins(%mul, %acc : !d, !d) outs(%e : !d) -> !d
  %map = linalg.map { arith.negf } ins(%sub : !d) outs(%e : !d)
  return %map : !d
}

func.func @moved(%x: !x, %s: !s, %y: !y, %t: !t, %acc: !d) -> tensor<2x160x128xf32> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : !x, !s, !y, !t, !d
  %e = tensor.empty() : tensor<160x128xf32>
  %transposed = linalg.transpose ins(%c : !d) outs(%e : tensor<160x128xf32>) permutation = [1, 0]
  %f = tensor.empty() : tensor<2x160x128xf32>
  %b = linalg.broadcast ins(%transposed : tensor<160x128xf32>) outs(%f : tensor<2x160x128xf32>) dimensions = [0]
  return %b : tensor<2x160x128xf32>
}

func.func @sum(%x: !x, %s: !s, %y: !y, %t: !t, %acc: !d) -> tensor<128xf32> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : !x, !s, !y, !t, !d
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %r = linalg.reduce { arith.addf } ins(%c : !d) outs(%zero : tensor<128xf32>) dimensions = [1]
  return %r : tensor<128xf32>
}

func.func @largest(%x: !x, %s: !s, %y: !y, %t: !t, %acc: !d) -> tensor<128xf32> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : !x, !s, !y, !t, !d
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %r = linalg.reduce { arith.maximumf } ins(%c : !d) outs(%zero : tensor<128xf32>) dimensions = [1]
  return %r : tensor<128xf32>
}

func.func @halves(%x: !x, %s: !s, %y: !y, %t: !t, %acc: !d) -> tensor<128x160xf16> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : !x, !s, !y, !t, !d
  %k = arith.constant dense<2.44140625e-4> : !d
  %m = arith.mulf %c, %k : !d
  %h = arith.truncf %m : !d to tensor<128x160xf16>
  return %h : tensor<128x160xf16>
}

func.func @bfloats(%x: !x, %s: !s, %y: !y, %t: !t, %acc: !d) -> tensor<128x160xbf16> {
  %c = blockscale.mma_scaled %x, %s, %y, %t, %acc : !x, !s, !y, !t, !d
  %h = arith.truncf %c : !d to tensor<128x160xbf16>
  return %h : tensor<128x160xbf16>
}
