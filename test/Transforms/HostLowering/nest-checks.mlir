// Checks that are directly in a parallel loop get a branch.

// RUN: blockscale-opt %s --blockscale-nest-checks | FileCheck %s
// RUN: blockscale-opt %s --blockscale-nest-checks --blockscale-nest-checks | FileCheck %s
// RUN: blockscale-opt %s --blockscale-flatten-parallel-loops --canonicalize --blockscale-nest-checks --convert-parallel-loops-to-gpu | FileCheck %s --check-prefix=LAUNCH

// The example of the pass' description.

// CHECK-LABEL:  func @check(
// CHECK:          scf.parallel
// CHECK-NEXT:       %[[V:.*]] = memref.load
// CHECK-NEXT:       %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT:       %[[FAILS:.*]] = arith.xori %[[V]], %[[TRUE]] : i1
// CHECK-NEXT:       scf.if %[[FAILS]] {
// CHECK-NEXT:         cf.assert %[[V]], "expected only true ones"
// CHECK-NEXT:       }
// CHECK-NEXT:       scf.reduce
// LAUNCH-LABEL: func @check(
// LAUNCH:         gpu.launch
// LAUNCH:           cf.assert %{{.*}}, "expected only true ones"
// LAUNCH:           gpu.terminator
func.func @check(%from: memref<8xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %v = memref.load %from[%i] : memref<8xi1>
    cf.assert %v, "expected only true ones"
    scf.reduce
  }
  return
}

// One that always fails, behind another one; the loop is flattened first.

// CHECK-LABEL:  func @constant(
// CHECK:          scf.if
// CHECK-NEXT:       cf.assert %{{.*}}, "first"
// CHECK:          scf.if
// CHECK-NEXT:       cf.assert %{{.*}}, "second"
// LAUNCH-LABEL: func @constant(
// LAUNCH:         gpu.launch
// LAUNCH:           cf.assert %{{.*}}, "first"
// LAUNCH:           cf.assert %{{.*}}, "second"
// LAUNCH:           memref.store
func.func @constant(%to: memref<30x40xi1>, %b: i1) {
  %false = arith.constant false
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c30 = arith.constant 30 : index
  %c40 = arith.constant 40 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c30, %c40) step (%c1, %c1) {
    cf.assert %b, "first"
    cf.assert %false, "second"
    memref.store %b, %to[%i, %j] : memref<30x40xi1>
    scf.reduce
  }
  return
}

// Checks on the host, in branches and in loops inside stay.

// CHECK-LABEL:  func @others(
// CHECK-NEXT:     cf.assert %{{.*}}, "host"
// CHECK:          scf.parallel
// CHECK-NEXT:       scf.if
// CHECK-NEXT:         cf.assert %{{.*}}, "branch"
// CHECK-NEXT:       }
// CHECK-NEXT:       scf.for
// CHECK-NEXT:         cf.assert %{{.*}}, "loop"
// CHECK-NEXT:       }
// CHECK-NEXT:       scf.reduce
func.func @others(%b: i1) {
  cf.assert %b, "host"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    scf.if %b {
      cf.assert %b, "branch"
    }
    scf.for %k = %c0 to %c8 step %c1 {
      cf.assert %b, "loop"
    }
    scf.reduce
  }
  return
}
