// Parallel loops become blocks of 256 threads along x.

// RUN: blockscale-opt %s --blockscale-flatten-parallel-loops -split-input-file -verify-diagnostics | FileCheck %s
// RUN: blockscale-opt %s --blockscale-flatten-parallel-loops --canonicalize -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=SIMPLE

// The example of the pass' description. The inner loop ends with the data.

// CHECK:        #[[$REST:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 - d2)>
// CHECK-LABEL:  func @copy(
// CHECK-SAME:     %[[FROM:[a-z0-9]+]]: memref<30x20xf32>, %[[TO:[a-z0-9]+]]: memref<30x20xf32>)
// CHECK:          scf.parallel (%[[BLOCK:.*]]) =
// CHECK-NEXT:       %[[SIZE:.*]] = affine.min #[[$REST]](%{{.*}}, %{{.*}}, %[[BLOCK]])
// CHECK-NEXT:       scf.parallel (%[[THREAD:.*]]) = (%{{.*}}) to (%[[SIZE]])
// CHECK-NEXT:         %[[I:.*]] = arith.addi %[[THREAD]], %[[BLOCK]]
// CHECK-NEXT:         %[[COLUMN:.*]] = arith.remsi %[[I]],
// CHECK-NEXT:         %[[ROW:.*]] = arith.divsi %[[I]],
// CHECK-NEXT:         %[[V:.*]] = memref.load %[[FROM]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:         memref.store %[[V]], %[[TO]][%[[ROW]], %[[COLUMN]]]
// CHECK:            } {mapping = [#gpu.loop_dim_map<processor = thread_x,
// CHECK:          } {mapping = [#gpu.loop_dim_map<processor = block_x,
// SIMPLE-LABEL: func @copy(
// SIMPLE-DAG:     %[[FIRST:.*]] = arith.constant 0 : index
// SIMPLE-DAG:     %[[COUNT:.*]] = arith.constant 600 : index
// SIMPLE-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// SIMPLE:         scf.parallel (%{{.*}}) = (%[[FIRST]]) to (%[[COUNT]]) step (%[[THREADS]])
func.func @copy(%from: memref<30x20xf32>, %to: memref<30x20xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %c30 = arith.constant 30 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c30, %c20) step (%c1, %c1) {
    %v = memref.load %from[%i, %j] : memref<30x20xf32>
    memref.store %v, %to[%i, %j] : memref<30x20xf32>
    scf.reduce
  }
  return
}

// -----

// One iteration is one thread, with the bounds instead of the variables.

// CHECK-LABEL: func @one(
// CHECK-NOT:     scf.parallel
// CHECK:         gpu.launch
// CHECK:           memref.store %{{.*}}, %{{.*}}[%[[C0:.*]], %[[C3:.*]]]
// CHECK-NEXT:      gpu.terminator
// SIMPLE-LABEL: func @one(
// SIMPLE-DAG:     %[[C0:.*]] = arith.constant 0 : index
// SIMPLE-DAG:     %[[C3:.*]] = arith.constant 3 : index
// SIMPLE:         gpu.launch
// SIMPLE:           memref.store %{{.*}}, %{{.*}}[%[[C0]], %[[C3]]]
func.func @one(%to: memref<1x20xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i, %j) = (%c0, %c3) to (%c1, %c4) step (%c1, %c1) {
    memref.store %v, %to[%i, %j] : memref<1x20xf32>
    scf.reduce
  }
  return
}

// -----

// A loop inside of a parallel loop stays whole, whatever it is.

// CHECK-LABEL: func @nested(
// CHECK:         scf.parallel
// CHECK:           scf.parallel
// CHECK:             scf.parallel (%[[J:.*]]) =
// CHECK-NEXT:          memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[J]]]
// CHECK-NEXT:          scf.reduce
// CHECK-NEXT:        }
// CHECK-NEXT:        scf.reduce
// CHECK-NEXT:      } {mapping = [#gpu.loop_dim_map<processor = thread_x
// CHECK-NOT:     scf.parallel
func.func @nested(%to: memref<?x20xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c20) step (%c1) {
      memref.store %v, %to[%i, %j] : memref<?x20xf32>
      scf.reduce
    }
    scf.reduce
  }
  return
}

// -----

// CHECK-LABEL: func @sequential(
// CHECK:         scf.for
// CHECK-NOT:     mapping
func.func @sequential(%to: memref<20xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  scf.for %i = %c0 to %c20 step %c1 {
    memref.store %v, %to[%i] : memref<20xf32>
  }
  return
}

// -----

func.func @reduction(%from: memref<20xf32>, %v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  // expected-error@+1 {{not supported in this version: a parallel loop with a reduction on a GPU target}}
  %r = scf.parallel (%i) = (%c0) to (%c20) step (%c1) init (%v) -> f32 {
    %e = memref.load %from[%i] : memref<20xf32>
    scf.reduce(%e : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}

// -----

// The body of a module has no terminator that could follow a loop.
func.func @last_of_a_body() {
  builtin.module {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error@+1 {{expected an op after a parallel loop}}
    scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
      scf.reduce
    }
  }
  return
}
