// RUN: blockscale-opt %s --blockscale-narrow-integers-to-bytes -split-input-file -verify-diagnostics | FileCheck %s

// CHECK:       memref.global "private" constant @numbers : memref<3xi8> = dense<[1, 14, 7]>
memref.global "private" constant @numbers : memref<3xi4> = dense<[1, -2, 7]>

// CHECK-LABEL: func @between(
// CHECK-SAME:      %[[X:.*]]: memref<4x8xi8>, %[[B:.*]]: memref<4x8xi1>, %[[W:.*]]: memref<4x8xi16>
// CHECK:         %[[M:.*]] = memref.alloc() : memref<4x8xi8>
// CHECK:         %[[BYTE:.*]] = memref.load %[[X]][%c0, %c0] : memref<4x8xi8>
// CHECK:         %[[V:.*]] = arith.trunci %[[BYTE]] : i8 to i4
// CHECK:         %[[SUM:.*]] = arith.addi %[[V]], %[[V]] : i4
// CHECK:         %[[OUT:.*]] = arith.extui %[[SUM]] : i4 to i8
// CHECK:         memref.store %[[OUT]], %[[M]][%c0, %c0] : memref<4x8xi8>
// CHECK:         memref.load %[[B]][%c0, %c0] : memref<4x8xi1>
// CHECK:         %[[WIDE:.*]] = memref.load %[[W]]
// CHECK:         arith.trunci %[[WIDE]] : i16 to i12
// CHECK:         memref.get_global @numbers : memref<3xi8>
func.func @between(%x: memref<4x8xi4>, %b: memref<4x8xi1>, %w: memref<4x8xi12>) -> (i1, i12, memref<3xi4>) {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<4x8xi4>
  %v = memref.load %x[%c0, %c0] : memref<4x8xi4>
  %s = arith.addi %v, %v : i4
  memref.store %s, %m[%c0, %c0] : memref<4x8xi4>
  %f = memref.load %b[%c0, %c0] : memref<4x8xi1>
  %g = memref.load %w[%c0, %c0] : memref<4x8xi12>
  %n = memref.get_global @numbers : memref<3xi4>
  return %f, %g, %n : i1, i12, memref<3xi4>
}

// -----

func.func @atomic(%x: memref<4xi4>, %v: i4) -> i4 {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{not supported in this version: 'memref.atomic_rmw' on 'i4' on a GPU target, expected loads and stores of its elements}}
  %r = memref.atomic_rmw addi %v, %x[%c0] : (i4, memref<4xi4>) -> i4
  return %r : i4
}
