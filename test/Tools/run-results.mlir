// What functions take and give: several results, scalars, every element type.

// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/save.py %t/a.npy "array(1.5, 'f4')" %t/i.npy "array(-7, 'i8')" %t/x.npy "array([[1, 15], [8, 3], [0, 7]], 'u1')"

//===----------------------------------------------------------------------===//
// Several results, printed and stored
//===----------------------------------------------------------------------===//

// RUN: blockscale-run %s --entry=several %t/a.npy %t/i.npy %t/x.npy | FileCheck %s --check-prefix=SEVERAL --match-full-lines
// SEVERAL:      {{\[\[1, 15\], \[8, 3\], \[0, 7\]\]}}
// SEVERAL-NEXT: 3.0
// SEVERAL-NEXT: -7
// SEVERAL-NEXT: 1
// SEVERAL-NEXT: [8, 3]
// SEVERAL-NOT:  {{.}}

// RUN: blockscale-run %s --entry=several %t/a.npy %t/i.npy %t/x.npy -o %t/0.npy -o %t/1.npy -o %t/2.npy -o %t/3.npy -o %t/4.npy | count 0
// RUN: %python -c "import numpy; [print(numpy.load('%t/%%d.npy' %% i).dtype, numpy.load('%t/%%d.npy' %% i).tolist()) for i in range(5)]" | FileCheck %s --check-prefix=STORED --match-full-lines
// STORED:      uint8 {{\[\[1, 15\], \[8, 3\], \[0, 7\]\]}}
// STORED-NEXT: float32 3.0
// STORED-NEXT: int64 -7
// STORED-NEXT: uint8 1
// STORED-NEXT: uint8 [8, 3]
func.func @several(%a: f32, %i: index, %x: tensor<3x2xf4E2M1FN>)
    -> (tensor<3x2xf4E2M1FN>, f32, index, i1, tensor<2xf4E2M1FN>) {
  %double = arith.addf %a, %a : f32
  %zero = arith.constant 0 : index
  %is_negative = arith.cmpi slt, %i, %zero : index
  %row = tensor.extract_slice %x[1, 0] [1, 2] [1, 1]
         : tensor<3x2xf4E2M1FN> to tensor<2xf4E2M1FN>
  return %x, %double, %i, %is_negative, %row
      : tensor<3x2xf4E2M1FN>, f32, index, i1, tensor<2xf4E2M1FN>
}

// An argument that is returned twice is two results.
// RUN: blockscale-run %s --entry=twice %t/x.npy -o %t/first.npy -o %t/second.npy
// RUN: diff %t/first.npy %t/x.npy
// RUN: diff %t/second.npy %t/x.npy
func.func @twice(%x: tensor<3x2xf4E2M1FN>)
    -> (tensor<3x2xf4E2M1FN>, tensor<3x2xf4E2M1FN>) {
  return %x, %x : tensor<3x2xf4E2M1FN>, tensor<3x2xf4E2M1FN>
}

// RUN: blockscale-run %s --entry=nothing | count 0
func.func @nothing() {
  return
}

// RUN: blockscale-run %s --entry=empty | FileCheck %s --check-prefix=EMPTY --match-full-lines
// EMPTY: []
func.func @empty() -> tensor<0x3xf32> {
  %0 = tensor.empty() : tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

//===----------------------------------------------------------------------===//
// Constants of every type
//===----------------------------------------------------------------------===//

// RUN: blockscale-run %s --entry=constants | FileCheck %s --check-prefix=CONSTANTS --match-full-lines
// CONSTANTS:      [1.5, -2.0, nan, inf]
// CONSTANTS-NEXT: [0.1, 1e+100]
// CONSTANTS-NEXT: [0.1, 65500.0]
// CONSTANTS-NEXT: [1.5]
// CONSTANTS-NEXT: [-1, 127]
// CONSTANTS-NEXT: [-300]
// CONSTANTS-NEXT: [-100000]
// CONSTANTS-NEXT: [1, 0]
// CONSTANTS-NEXT: [126, 184]
// CONSTANTS-NEXT: [124, 188]
// CONSTANTS-NEXT: [31, 33]
// CONSTANTS-NEXT: [1, 33]
// CONSTANTS-NEXT: [1, 15]
// CONSTANTS-NEXT: [127, 0, 255]
// CONSTANTS-NOT:  {{.}}
func.func @constants()
    -> (tensor<4xf32>, tensor<2xf64>, tensor<2xf16>, tensor<1xbf16>,
        tensor<2xi8>, tensor<1xi16>, tensor<1xi32>, tensor<2xi1>,
        tensor<2xf8E4M3FN>, tensor<2xf8E5M2>, tensor<2xf6E3M2FN>,
        tensor<2xf6E2M3FN>, tensor<2xf4E2M1FN>, tensor<3xf8E8M0FNU>) {
  %f32 = arith.constant dense<[1.5, -2.0, 0x7FC00000, 0x7F800000]>
         : tensor<4xf32>
  %f64 = arith.constant dense<[0.1, 1.0e100]> : tensor<2xf64>
  %f16 = arith.constant dense<[0.1, 65504.0]> : tensor<2xf16>
  %bf16 = arith.constant dense<[1.5]> : tensor<1xbf16>
  %i8 = arith.constant dense<[-1, 127]> : tensor<2xi8>
  %i16 = arith.constant dense<[-300]> : tensor<1xi16>
  %i32 = arith.constant dense<[-100000]> : tensor<1xi32>
  %i1 = arith.constant dense<[true, false]> : tensor<2xi1>
  %e4m3 = arith.constant dense<[448.0, -1.0]> : tensor<2xf8E4M3FN>
  %e5m2 = arith.constant dense<[0x7C, -1.0]> : tensor<2xf8E5M2>
  %e3m2 = arith.constant dense<[28.0, -0.0625]> : tensor<2xf6E3M2FN>
  %e2m3 = arith.constant dense<[0.125, -0.125]> : tensor<2xf6E2M3FN>
  %e2m1 = arith.constant dense<[0.5, -6.0]> : tensor<2xf4E2M1FN>
  %e8m0 = arith.constant dense<[1.0, 0x00, 0xFF]> : tensor<3xf8E8M0FNU>
  return %f32, %f64, %f16, %bf16, %i8, %i16, %i32, %i1, %e4m3, %e5m2, %e3m2,
         %e2m3, %e2m1, %e8m0
      : tensor<4xf32>, tensor<2xf64>, tensor<2xf16>, tensor<1xbf16>,
        tensor<2xi8>, tensor<1xi16>, tensor<1xi32>, tensor<2xi1>,
        tensor<2xf8E4M3FN>, tensor<2xf8E5M2>, tensor<2xf6E3M2FN>,
        tensor<2xf6E2M3FN>, tensor<2xf4E2M1FN>, tensor<3xf8E8M0FNU>
}

// More than 1000 elements are abridged.
// RUN: blockscale-run %s --entry=large | FileCheck %s --check-prefix=LARGE --match-full-lines
// LARGE: [2.0, 2.0, 2.0, ..., 2.0, 2.0, 2.0]
func.func @large() -> tensor<1001xf32> {
  %0 = arith.constant dense<2.0> : tensor<1001xf32>
  return %0 : tensor<1001xf32>
}

//===----------------------------------------------------------------------===//
// One value as two results: one buffer, which is freed once
//===----------------------------------------------------------------------===//

// RUN: blockscale-run %s --entry=shared_sum | FileCheck %s --check-prefix=SHARED --match-full-lines
// SHARED:      [3.0, 3.0]
// SHARED-NEXT: [3.0, 3.0]
func.func @shared_sum() -> (tensor<2xf32>, tensor<2xf32>) {
  %a = arith.constant dense<1.0> : tensor<2xf32>
  %b = arith.constant dense<2.0> : tensor<2xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %sum = linalg.add ins(%a, %b : tensor<2xf32>, tensor<2xf32>)
         outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  return %sum, %sum : tensor<2xf32>, tensor<2xf32>
}
