// Large splat constants are filled at run time.

// RUN: blockscale-opt %s --blockscale-splats-to-fills | FileCheck %s

// The example of the pass' description.

// CHECK-LABEL: func @ones(
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty() : tensor<64x64xf32>
// CHECK-NEXT:    %[[FILL:.*]] = linalg.fill ins(%[[ONE]] : f32) outs(%[[EMPTY]] : tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK-NEXT:    return %[[FILL]]
func.func @ones() -> tensor<64x64xf32> {
  %c = arith.constant dense<1.0> : tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}

// The byte 0x00 of e8m0 is no zero, and stays what it is.
// CHECK-LABEL: func @other_types(
// CHECK-DAG:     %[[E8M0:.*]] = arith.constant 5.877470e-39 : f8E8M0FNU
// CHECK-DAG:     %[[E2M1:.*]] = arith.constant -6.000000e+00 : f4E2M1FN
// CHECK-DAG:     %[[I8:.*]] = arith.constant -3 : i8
// CHECK-DAG:     %[[INDEX:.*]] = arith.constant 7 : index
// CHECK-DAG:     linalg.fill ins(%[[E8M0]] : f8E8M0FNU)
// CHECK-DAG:     linalg.fill ins(%[[E2M1]] : f4E2M1FN)
// CHECK-DAG:     linalg.fill ins(%[[I8]] : i8)
// CHECK-DAG:     linalg.fill ins(%[[INDEX]] : index)
func.func @other_types()
    -> (tensor<2000xf8E8M0FNU>, tensor<5x500xf4E2M1FN>, tensor<2000xi8>,
        tensor<2000xindex>) {
  %0 = arith.constant dense<0x00> : tensor<2000xf8E8M0FNU>
  %1 = arith.constant dense<-6.0> : tensor<5x500xf4E2M1FN>
  %2 = arith.constant dense<-3> : tensor<2000xi8>
  %3 = arith.constant dense<7> : tensor<2000xindex>
  return %0, %1, %2, %3
      : tensor<2000xf8E8M0FNU>, tensor<5x500xf4E2M1FN>, tensor<2000xi8>,
        tensor<2000xindex>
}

// CHECK-LABEL: func @size_1025(
// CHECK:         linalg.fill
func.func @size_1025() -> tensor<5x205xf32> {
  %c = arith.constant dense<1.0> : tensor<5x205xf32>
  return %c : tensor<5x205xf32>
}

//===----------------------------------------------------------------------===//
// What stays
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @size_1024(
// CHECK-NEXT:    arith.constant dense<1.000000e+00> : tensor<32x32xf32>
// CHECK-NEXT:    return
func.func @size_1024() -> tensor<32x32xf32> {
  %c = arith.constant dense<1.0> : tensor<32x32xf32>
  return %c : tensor<32x32xf32>
}

// CHECK-LABEL: func @vector(
// CHECK-NEXT:    arith.constant dense<1.000000e+00> : vector<64x64xf32>
// CHECK-NEXT:    return
func.func @vector() -> vector<64x64xf32> {
  %c = arith.constant dense<1.0> : vector<64x64xf32>
  return %c : vector<64x64xf32>
}

// CHECK-LABEL: func @complex(
// CHECK-NEXT:    arith.constant dense<(1.000000e+00,2.000000e+00)> : tensor<64x64xcomplex<f32>>
// CHECK-NEXT:    return
func.func @complex() -> tensor<64x64xcomplex<f32>> {
  %c = arith.constant dense<(1.0, 2.0)> : tensor<64x64xcomplex<f32>>
  return %c : tensor<64x64xcomplex<f32>>
}

// CHECK-LABEL: func @no_splat(
// CHECK-NEXT:    arith.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:    return
func.func @no_splat() -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %c : tensor<2xf32>
}
