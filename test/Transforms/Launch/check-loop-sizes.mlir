// Dynamic sizes that the loops of an op have to agree on.

// RUN: blockscale-opt %s --pass-pipeline='builtin.module(func.func(blockscale-check-loop-sizes,cse,canonicalize))' | FileCheck %s

// CHECK-LABEL: func @negate(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?xf32>, %[[R:[a-z0-9]+]]: tensor<?xf32>)
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG:     %[[SIZE:.*]] = tensor.dim %[[R]], %c0
// CHECK:         %[[FITS:.*]] = arith.cmpi eq, %[[SIZE]], %[[N]]
// CHECK:         cf.assert %[[FITS]], "ERROR: Runtime op verification failed\0A{{.*}}linalg.negf{{.*}}\0A^ expected size 0 of operand #1 to fit the loops over it\0ALocation: {{.*}}"
// CHECK:         linalg.negf
func.func @negate(%x: tensor<?xf32>, %r: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.negf ins(%x : tensor<?xf32>) outs(%r : tensor<?xf32>)
       -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// An index that is made of loops stays inside: blocks of 32 along K.

// CHECK-LABEL: func @blocks(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?xf32>, %[[S:[a-z0-9]+]]: tensor<?xf32>
// CHECK-DAG:     %[[MOST:.*]] = affine.apply #{{.*}}()[%{{.*}}]
// CHECK:         %[[FITS:.*]] = arith.cmpi slt, %[[MOST]], %{{.*}}
// CHECK:         cf.assert %[[FITS]], {{.*}}expected size 0 of operand #1 to fit the loops over it
func.func @blocks(%x: tensor<?xf32>, %s: tensor<?xf32>, %r: tensor<?xf32>)
    -> tensor<?xf32> {
  %0 = linalg.generic {
         indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k floordiv 32)>,
                          affine_map<(k) -> (k)>],
         iterator_types = ["parallel"]}
       ins(%x, %s : tensor<?xf32>, tensor<?xf32>) outs(%r : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// What is known needs no check.

// CHECK-LABEL: func @known(
// CHECK-NOT:     cf.assert
func.func @known(%x: tensor<4xf32>, %v: f32, %r: tensor<?xf32>)
    -> (tensor<4xf32>, tensor<?xf32>) {
  %0 = linalg.negf ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
       -> tensor<4xf32>
  %1 = linalg.fill ins(%v : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<4xf32>, tensor<?xf32>
}
