// fp8, fp6, fp4 and e8m0 become bytes, with the code in the low bits.

// RUN: blockscale-opt %s --blockscale-narrow-floats-to-bytes --split-input-file | FileCheck %s

// The example of the pass' description.

// CHECK-LABEL: func @decode(
// CHECK-SAME:    %[[X:.*]]: tensor<8xi8>, %[[I:.*]]: index) -> i4 {
// CHECK-NEXT:    %[[E:.*]] = tensor.extract %[[X]][%[[I]]] : tensor<8xi8>
// CHECK-NEXT:    %[[C:.*]] = arith.trunci %[[E]] : i8 to i4
// CHECK-NEXT:    return %[[C]] : i4
func.func @decode(%x: tensor<8xf4E2M1FN>, %i: index) -> i4 {
  %e = tensor.extract %x[%i] : tensor<8xf4E2M1FN>
  %c = arith.bitcast %e : f4E2M1FN to i4
  return %c : i4
}

// -----

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func private @types(
// CHECK-SAME:    i8, vector<4xi8>, tensor<?x3xi8>, memref<2xi8, strided<[5]>>, tensor<*xi8>, memref<2xvector<4xi8>>) -> tuple<i8, i8>
func.func private @types(f8E4M3FN, vector<4xf8E5M2>, tensor<?x3xf6E3M2FN>,
                         memref<2xf6E2M3FN, strided<[5]>>, tensor<*xf4E2M1FN>,
                         memref<2xvector<4xf8E8M0FNU>>)
    -> tuple<f8E4M3FN, f4E2M1FN>

// Other types stay.
// CHECK-LABEL: func private @other_types(
// CHECK-SAME:    f32, vector<4xf16>, tensor<2xbf16>, f64, i4, tensor<2xi6>, index)
func.func private @other_types(f32, vector<4xf16>, tensor<2xbf16>, f64, i4,
                               tensor<2xi6>, index)

// CHECK:         module attributes {test.type = i8, test.value = 56 : i8}
module attributes {test.type = f8E4M3FN, test.value = 1.0 : f8E4M3FN} {}

// -----

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @dense(
// CHECK-DAG:     dense<{{\[\[}}126, -2], [127, 1]]> : tensor<2x2xi8>
// CHECK-DAG:     dense<[124, -68]> : tensor<2xi8>
// CHECK-DAG:     dense<[31, 33]> : vector<2xi8>
// CHECK-DAG:     dense<[1, 33]> : tensor<2xi8>
// CHECK-DAG:     dense<[1, 15, 2, 8]> : tensor<4xi8>
// CHECK-DAG:     dense<[127, 0, -1]> : tensor<3xi8>
func.func @dense() -> (tensor<2x2xf8E4M3FN>, tensor<2xf8E5M2>,
                       vector<2xf6E3M2FN>, tensor<2xf6E2M3FN>,
                       tensor<4xf4E2M1FN>, tensor<3xf8E8M0FNU>) {
  %e4m3 = arith.constant dense<[[448.0, -448.0], [0x7F, 0x01]]>
          : tensor<2x2xf8E4M3FN>
  %e5m2 = arith.constant dense<[0x7C, -1.0]> : tensor<2xf8E5M2>
  %e3m2 = arith.constant dense<[28.0, -0.0625]> : vector<2xf6E3M2FN>
  %e2m3 = arith.constant dense<[0.125, -0.125]> : tensor<2xf6E2M3FN>
  %e2m1 = arith.constant dense<[0.5, -6.0, 1.0, -0.0]> : tensor<4xf4E2M1FN>
  %e8m0 = arith.constant dense<[1.0, 0x00, 0xFF]> : tensor<3xf8E8M0FNU>
  return %e4m3, %e5m2, %e3m2, %e2m3, %e2m1, %e8m0
      : tensor<2x2xf8E4M3FN>, tensor<2xf8E5M2>, vector<2xf6E3M2FN>,
        tensor<2xf6E2M3FN>, tensor<4xf4E2M1FN>, tensor<3xf8E8M0FNU>
}

// CHECK-LABEL: func @splat(
// CHECK-DAG:     dense<56> : tensor<1000x1000xi8>
// CHECK-DAG:     dense<-68> : vector<3xi8>
// CHECK-DAG:     dense<31> : tensor<2xi8>
// CHECK-DAG:     dense<63> : tensor<2xi8>
// CHECK-DAG:     dense<15> : tensor<2xi8>
// CHECK-DAG:     dense<-128> : tensor<2xi8>
func.func @splat() -> (tensor<1000x1000xf8E4M3FN>, vector<3xf8E5M2>,
                       tensor<2xf6E3M2FN>, tensor<2xf6E2M3FN>,
                       tensor<2xf4E2M1FN>, tensor<2xf8E8M0FNU>) {
  %e4m3 = arith.constant dense<1.0> : tensor<1000x1000xf8E4M3FN>
  %e5m2 = arith.constant dense<-1.0> : vector<3xf8E5M2>
  %e3m2 = arith.constant dense<28.0> : tensor<2xf6E3M2FN>
  %e2m3 = arith.constant dense<-7.5> : tensor<2xf6E2M3FN>
  %e2m1 = arith.constant dense<-6.0> : tensor<2xf4E2M1FN>
  %e8m0 = arith.constant dense<2.0> : tensor<2xf8E8M0FNU>
  return %e4m3, %e5m2, %e3m2, %e2m3, %e2m1, %e8m0
      : tensor<1000x1000xf8E4M3FN>, vector<3xf8E5M2>, tensor<2xf6E3M2FN>,
        tensor<2xf6E2M3FN>, tensor<2xf4E2M1FN>, tensor<2xf8E8M0FNU>
}

// CHECK-LABEL: func @scalar(
// CHECK-DAG:     arith.constant 1 : i8
// CHECK-DAG:     arith.constant -68 : i8
// CHECK-DAG:     arith.constant 63 : i8
// CHECK-DAG:     arith.constant 33 : i8
// CHECK-DAG:     arith.constant 15 : i8
// CHECK-DAG:     arith.constant 0 : i8
func.func @scalar()
    -> (f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN, f4E2M1FN, f8E8M0FNU) {
  %e4m3 = arith.constant 0.001953125 : f8E4M3FN
  %e5m2 = arith.constant -1.0 : f8E5M2
  %e3m2 = arith.constant -28.0 : f6E3M2FN
  %e2m3 = arith.constant -0.125 : f6E2M3FN
  %e2m1 = arith.constant -6.0 : f4E2M1FN
  %e8m0 = arith.constant 0x00 : f8E8M0FNU
  return %e4m3, %e5m2, %e3m2, %e2m3, %e2m1, %e8m0
      : f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN, f4E2M1FN, f8E8M0FNU
}

// CHECK-LABEL: memref.global "private" constant @global
// CHECK-SAME:    : memref<3xi8> = dense<[12, 63, 0]>
memref.global "private" constant @global : memref<3xf6E3M2FN>
    = dense<[1.0, -28.0, 0.0]>

// CHECK-LABEL: func @sparse(
// CHECK:         arith.constant sparse<1, 15> : tensor<4xi8>
func.func @sparse() -> tensor<4xf4E2M1FN> {
  %0 = arith.constant sparse<[[1]], [-6.0]> : tensor<4xf4E2M1FN>
  return %0 : tensor<4xf4E2M1FN>
}

// A resource of another element type does not change.
// CHECK-LABEL: func @resource_of_f32(
// CHECK:         arith.constant dense_resource<ones> : tensor<1xf32>
func.func @resource_of_f32(%x: f8E4M3FN) -> tensor<1xf32> {
  %0 = arith.constant dense_resource<ones> : tensor<1xf32>
  return %0 : tensor<1xf32>
}

{-#
  dialect_resources: {
    builtin: { ones: "0x040000000000803f" }
  }
#-}

// -----

//===----------------------------------------------------------------------===//
// arith.bitcast
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @bitcast_of_8_bits(
// CHECK-SAME:    %[[E4M3:.*]]: i8, %[[I8:.*]]: i8, %[[E5M2:.*]]: i8)
// CHECK-NEXT:    return %[[E4M3]], %[[I8]], %[[E5M2]] : i8, i8, i8
func.func @bitcast_of_8_bits(%a: f8E4M3FN, %b: i8, %c: f8E5M2)
    -> (i8, f8E8M0FNU, f8E4M3FN) {
  %0 = arith.bitcast %a : f8E4M3FN to i8
  %1 = arith.bitcast %b : i8 to f8E8M0FNU
  %2 = arith.bitcast %c : f8E5M2 to f8E4M3FN
  return %0, %1, %2 : i8, f8E8M0FNU, f8E4M3FN
}

// CHECK-LABEL: func @bitcast_of_less_than_8_bits(
// CHECK-SAME:    %[[I6:.*]]: i6, %[[E2M3:.*]]: i8, %[[E2M1:.*]]: vector<4xi8>, %[[I4:.*]]: tensor<4xi4>)
// CHECK-DAG:     %[[FROM_I6:.*]] = arith.extui %[[I6]] : i6 to i8
// CHECK-DAG:     %[[TO_I6:.*]] = arith.trunci %[[E2M3]] : i8 to i6
// CHECK-DAG:     %[[TO_I4:.*]] = arith.trunci %[[E2M1]] : vector<4xi8> to vector<4xi4>
// CHECK-DAG:     %[[FROM_I4:.*]] = arith.extui %[[I4]] : tensor<4xi4> to tensor<4xi8>
// CHECK:         return %[[FROM_I6]], %[[TO_I6]], %[[TO_I4]], %[[FROM_I4]], %[[E2M3]]
func.func @bitcast_of_less_than_8_bits(
    %a: i6, %b: f6E2M3FN, %c: vector<4xf4E2M1FN>, %d: tensor<4xi4>)
    -> (f6E3M2FN, i6, vector<4xi4>, tensor<4xf4E2M1FN>, f6E3M2FN) {
  %0 = arith.bitcast %a : i6 to f6E3M2FN
  %1 = arith.bitcast %b : f6E2M3FN to i6
  %2 = arith.bitcast %c : vector<4xf4E2M1FN> to vector<4xi4>
  %3 = arith.bitcast %d : tensor<4xi4> to tensor<4xf4E2M1FN>
  %4 = arith.bitcast %b : f6E2M3FN to f6E3M2FN
  return %0, %1, %2, %3, %4
      : f6E3M2FN, i6, vector<4xi4>, tensor<4xf4E2M1FN>, f6E3M2FN
}

// -----

//===----------------------------------------------------------------------===//
// Functions and control flow
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func private @callee(
// CHECK-SAME:    %{{.*}}: tensor<4xi8>, %{{.*}}: i8) -> (tensor<4xi8>, i8)
func.func private @callee(%a: tensor<4xf8E5M2>, %s: f6E2M3FN)
    -> (tensor<4xf8E5M2>, f6E2M3FN) {
  return %a, %s : tensor<4xf8E5M2>, f6E2M3FN
}

// CHECK:       func private @external(i8) -> vector<4xi8>
func.func private @external(f4E2M1FN) -> vector<4xf8E8M0FNU>

// CHECK-LABEL: func @calls(
// CHECK:         call @callee(%{{.*}}, %{{.*}}) : (tensor<4xi8>, i8) -> (tensor<4xi8>, i8)
// CHECK:         call @external(%{{.*}}) : (i8) -> vector<4xi8>
func.func @calls(%a: tensor<4xf8E5M2>, %s: f6E2M3FN, %x: f4E2M1FN)
    -> (tensor<4xf8E5M2>, vector<4xf8E8M0FNU>) {
  %0:2 = call @callee(%a, %s)
         : (tensor<4xf8E5M2>, f6E2M3FN) -> (tensor<4xf8E5M2>, f6E2M3FN)
  %1 = call @external(%x) : (f4E2M1FN) -> vector<4xf8E8M0FNU>
  return %0#0, %1 : tensor<4xf8E5M2>, vector<4xf8E8M0FNU>
}

// CHECK-LABEL: func @structured(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: i8, %[[B:[a-z0-9]+]]: i8, %[[C:[a-z0-9]+]]: i1
// CHECK:         %[[FIRST:.*]] = scf.if %[[C]] -> (i8)
// CHECK:           scf.yield %[[A]] : i8
// CHECK:         %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[V:.*]] = %[[FIRST]]) -> (i8)
// CHECK:           arith.select %[[C]], %[[V]], %[[B]] : i8
// CHECK:         return %[[LAST]] : i8
func.func @structured(%a: f4E2M1FN, %b: f4E2M1FN, %c: i1, %n: index)
    -> f4E2M1FN {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = scf.if %c -> f4E2M1FN {
    scf.yield %a : f4E2M1FN
  } else {
    scf.yield %b : f4E2M1FN
  }
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> f4E2M1FN {
    %next = arith.select %c, %v, %b : f4E2M1FN
    scf.yield %next : f4E2M1FN
  }
  return %last : f4E2M1FN
}

// CHECK-LABEL: func @branches(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: i8, %[[B:[a-z0-9]+]]: i8
// CHECK:         cf.cond_br %{{.*}}, ^[[JOIN:.*]](%[[A]] : i8), ^[[ELSE:.*]]
// CHECK:       ^[[JOIN]](%[[X:.*]]: i8):
// CHECK:         return %[[X]] : i8
// CHECK:       ^[[ELSE]]:
// CHECK:         cf.br ^[[JOIN]](%[[B]] : i8)
func.func @branches(%a: f8E4M3FN, %b: f8E4M3FN, %c: i1) -> f8E4M3FN {
  cf.cond_br %c, ^join(%a : f8E4M3FN), ^else
^join(%x: f8E4M3FN):
  return %x : f8E4M3FN
^else:
  cf.br ^join(%b : f8E4M3FN)
}

// -----

//===----------------------------------------------------------------------===//
// Ops that only move elements
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @tensors(
// CHECK:         tensor.empty() : tensor<4x2xi8>
// CHECK:         linalg.transpose ins(%{{.*}} : tensor<2x4xi8>) outs(%{{.*}} : tensor<4x2xi8>)
// CHECK:         tensor.extract_slice %{{.*}} : tensor<4x2xi8> to tensor<3x1xi8>
// CHECK:         tensor.pad
// CHECK:           tensor.yield %{{.*}} : i8
func.func @tensors(%x: tensor<2x4xf6E3M2FN>, %padding: f6E3M2FN)
    -> tensor<3x5xf6E3M2FN> {
  %empty = tensor.empty() : tensor<4x2xf6E3M2FN>
  %transposed = linalg.transpose ins(%x : tensor<2x4xf6E3M2FN>)
                outs(%empty : tensor<4x2xf6E3M2FN>) permutation = [1, 0]
  %slice = tensor.extract_slice %transposed[0, 1] [3, 1] [1, 1]
           : tensor<4x2xf6E3M2FN> to tensor<3x1xf6E3M2FN>
  %padded = tensor.pad %slice low[0, 4] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %padding : f6E3M2FN
  } : tensor<3x1xf6E3M2FN> to tensor<3x5xf6E3M2FN>
  return %padded : tensor<3x5xf6E3M2FN>
}

// CHECK-LABEL: func @vectors(
// CHECK:         ub.poison : i8
// CHECK:         vector.transfer_read %{{.*}} : tensor<8x8xi8>, vector<2x4xi8>
// CHECK:         vector.transpose %{{.*}} : vector<2x4xi8> to vector<4x2xi8>
// CHECK:         vector.shape_cast %{{.*}} : vector<4x2xi8> to vector<8xi8>
// CHECK:         vector.extract %{{.*}}[3] : i8 from vector<8xi8>
// CHECK:         vector.broadcast %{{.*}} : i8 to vector<2xi8>
func.func @vectors(%x: tensor<8x8xf4E2M1FN>, %i: index) -> vector<2xf4E2M1FN> {
  %padding = ub.poison : f4E2M1FN
  %0 = vector.transfer_read %x[%i, %i], %padding
       : tensor<8x8xf4E2M1FN>, vector<2x4xf4E2M1FN>
  %1 = vector.transpose %0, [1, 0]
       : vector<2x4xf4E2M1FN> to vector<4x2xf4E2M1FN>
  %2 = vector.shape_cast %1 : vector<4x2xf4E2M1FN> to vector<8xf4E2M1FN>
  %3 = vector.extract %2[3] : f4E2M1FN from vector<8xf4E2M1FN>
  %4 = vector.broadcast %3 : f4E2M1FN to vector<2xf4E2M1FN>
  return %4 : vector<2xf4E2M1FN>
}

// CHECK-LABEL: func @memrefs(
// CHECK:         memref.alloc(%{{.*}}) : memref<?xi8>
// CHECK:         %[[CODE:.*]] = memref.load %{{.*}} : memref<?xi8>
// CHECK:         memref.store %[[CODE]], %{{.*}} : memref<?xi8>
func.func @memrefs(%x: memref<?xf8E8M0FNU>, %i: index) {
  %copy = memref.alloc(%i) : memref<?xf8E8M0FNU>
  %0 = memref.load %x[%i] : memref<?xf8E8M0FNU>
  memref.store %0, %copy[%i] : memref<?xf8E8M0FNU>
  memref.dealloc %copy : memref<?xf8E8M0FNU>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Nothing to do
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @wide_floats(
// CHECK-SAME:    %[[A:.*]]: f16, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[WIDE:.*]] = arith.extf %[[A]] : f16 to f32
// CHECK-NEXT:    %[[BITS:.*]] = arith.bitcast %[[B]] : tensor<4xf32> to tensor<4xi32>
// CHECK-NEXT:    return %[[WIDE]], %[[BITS]]
func.func @wide_floats(%a: f16, %b: tensor<4xf32>) -> (f32, tensor<4xi32>) {
  %0 = arith.extf %a : f16 to f32
  %1 = arith.bitcast %b : tensor<4xf32> to tensor<4xi32>
  return %0, %1 : f32, tensor<4xi32>
}
