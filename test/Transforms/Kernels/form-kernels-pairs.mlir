// Gated activations behind products of groups: the kernel combines pairs of columns, 8 apart.

// RUN: blockscale-opt %s --blockscale-attach-target="target=sm_80" --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize --split-input-file | FileCheck %s

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>
#scalar = affine_map<(t, b, c) -> ()>

// The result has half of the columns. Both elements get what belongs to the sum, and the limit is a parameter.

// CHECK-LABEL: func.func @gated(
// CHECK-SAME:    %[[LIMIT:[a-z0-9]+]]: f32)
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x32xbf16>
// CHECK:         %[[R:.*]] = blockscale.launch @kernels::@gated__grouped_matmul {{.*}} ins({{.*}}%[[LIMIT]]{{.*}}) outs(%[[EMPTY]] : tensor<?x32xbf16>) -> tensor<?x32xbf16>
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[R]]

// CHECK:       gpu.func @gated__grouped_matmul(%{{.*}}: memref<?x128xbf16>, %{{.*}}: memref<5x128x64xbf16>, %[[LIMIT:.*]]: f32, %[[ACC:.*]]: memref<?x64xf32>, %{{.*}}: memref<5xi32>, %[[BIAS:.*]]: memref<5x64xf32>, %[[D:.*]]: memref<?x32xbf16>)
// CHECK:         blockscale.acc_for_each %{{.*}} at({{.*}}) of({{.*}}) pairs {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK-NEXT:      %[[ACC_X:.*]] = memref.load %[[ACC]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:      %[[BIAS_X:.*]] = memref.load %[[BIAS]][%[[GROUP:.*]], %[[COLUMN]]]
// CHECK-NEXT:      %[[SUM_X:.*]] = arith.addf %[[X]], %[[BIAS_X]]
// CHECK-NEXT:      %[[GATE:.*]] = arith.select %[[IS_KEPT:.*]], %[[ACC_X]], %[[SUM_X]]
// CHECK-NEXT:      %[[BEHIND:.*]] = arith.addi %[[COLUMN]], %c8
// CHECK-NEXT:      %[[ACC_Y:.*]] = memref.load %[[ACC]][%[[ROW]], %[[BEHIND]]]
// CHECK-NEXT:      %[[BIAS_Y:.*]] = memref.load %[[BIAS]][%[[GROUP]], %[[BEHIND]]]
// CHECK-NEXT:      %[[SUM_Y:.*]] = arith.addf %[[Y]], %[[BIAS_Y]]
// CHECK-NEXT:      %[[UP:.*]] = arith.select %[[IS_KEPT]], %[[ACC_Y]], %[[SUM_Y]]
// The column is that of the block of 8, and its rest.
// CHECK:           arith.divui %[[COLUMN]], %c16
// CHECK:           arith.divui %[[COLUMN]], %c8
// CHECK:           %[[HALF:.*]] = arith.addi
// CHECK-NEXT:      %[[LOW:.*]] = arith.minimumf %[[GATE]], %[[LIMIT]]
// CHECK-NEXT:      %[[V:.*]] = arith.mulf %[[LOW]], %[[UP]]
// CHECK-NEXT:      %[[ROUNDED:.*]] = arith.truncf %[[V]] : f32 to bf16
// CHECK-NEXT:      memref.store %[[ROUNDED]], %[[D]][%[[ROW]], %[[HALF]]]
func.func @gated(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>, %b: tensor<5x64xf32>, %limit: f32)
    -> tensor<?x32xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc bias(%b : tensor<5x64xf32>)
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xbf16>
  %h = linalg.generic {indexing_maps = [#gate, #up, #scalar, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p, %limit : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>, f32) outs(%e : tensor<?x4x8xbf16>) {
  ^bb0(%gate: f32, %up: f32, %most: f32, %old: bf16):
    %g = arith.minimumf %gate, %most : f32
    %v = arith.mulf %g, %up : f32
    %n = arith.truncf %v : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<?x4x8xbf16>
  %r = tensor.collapse_shape %h [[0], [1, 2]] : tensor<?x4x8xbf16> into tensor<?x32xbf16>
  return %r : tensor<?x32xbf16>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// The second half may come first; blocks that are asked for are made of the result.

// CHECK-LABEL: func.func @second_first(
// CHECK:         %[[R:.*]] = blockscale.launch {{.*}} -> tensor<?x32xf32>
// CHECK:         %[[BLOCKS:.*]] = tensor.expand_shape %[[R]] {{\[}}[0], [1, 2]] {{.*}} into tensor<?x4x8xf32>
// CHECK:         return %[[BLOCKS]]
// CHECK:         blockscale.acc_for_each {{.*}} pairs {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32,
// CHECK-DAG:       %[[FIRST:.*]] = arith.select %{{.*}}, %{{.*}}, %[[X]]
// CHECK-DAG:       %[[SECOND:.*]] = arith.select %{{.*}}, %{{.*}}, %[[Y]]
// CHECK:           arith.divf %[[SECOND]], %[[FIRST]]
func.func @second_first(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xf32>
  %h = linalg.generic {indexing_maps = [#up, #gate, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %v = arith.divf %gate, %up : f32
    linalg.yield %v : f32
  } -> tensor<?x4x8xf32>
  return %h : tensor<?x4x8xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Others use the whole result: the elementwise op stays, here and from here on.

// CHECK-LABEL: func.func @result_used(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<?x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @result_used__grouped_matmul(
// CHECK-NOT:     pairs
func.func @result_used(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> (tensor<?x4x8xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xf32>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %v = arith.mulf %gate, %up : f32
    linalg.yield %v : f32
  } -> tensor<?x4x8xf32>
  return %h, %d : tensor<?x4x8xf32>, tensor<?x64xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Others use it in its other form.

// CHECK-LABEL: func.func @blocks_used(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<?x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @blocks_used__grouped_matmul(
// CHECK-NOT:     pairs
func.func @blocks_used(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> (tensor<?x4x8xf32>, tensor<?x4x2x8xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xf32>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %v = arith.mulf %gate, %up : f32
    linalg.yield %v : f32
  } -> tensor<?x4x8xf32>
  return %h, %p : tensor<?x4x8xf32>, tensor<?x4x2x8xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// One half twice.

// CHECK-LABEL: func.func @one_half(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<?x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @one_half__grouped_matmul(
// CHECK-NOT:     pairs
func.func @one_half(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xf32>
  %h = linalg.generic {indexing_maps = [#gate, #gate, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %v = arith.mulf %gate, %up : f32
    linalg.yield %v : f32
  } -> tensor<?x4x8xf32>
  return %h : tensor<?x4x8xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (b, t, 0, c)>
#up = affine_map<(t, b, c) -> (b, t, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Rows and blocks are exchanged.

// CHECK-LABEL: func.func @blocks_of_rows(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<?x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @blocks_of_rows__grouped_matmul(
// CHECK-NOT:     pairs
func.func @blocks_of_rows(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> tensor<4x?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<4x?x8xf32>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<4x?x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %v = arith.mulf %gate, %up : f32
    linalg.yield %v : f32
  } -> tensor<4x?x8xf32>
  return %h : tensor<4x?x8xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, c, 0)>
#up = affine_map<(t, b, c) -> (t, b, c, 1)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Pairs of neighbors.

// CHECK-LABEL: func.func @neighbors(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<?x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @neighbors__grouped_matmul(
// CHECK-NOT:     pairs
func.func @neighbors(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 8, 2] : tensor<?x64xf32> into tensor<?x4x8x2xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xf32>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x8x2xf32>, tensor<?x4x8x2xf32>) outs(%e : tensor<?x4x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %v = arith.mulf %gate, %up : f32
    linalg.yield %v : f32
  } -> tensor<?x4x8xf32>
  return %h : tensor<?x4x8xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Halves of 16 columns.

// CHECK-LABEL: func.func @halves_of_16(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<?x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @halves_of_16__grouped_matmul(
// CHECK-NOT:     pairs
func.func @halves_of_16(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> tensor<?x2x16xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 2, 2, 16] : tensor<?x64xf32> into tensor<?x2x2x16xf32>
  %e = tensor.empty(%t) : tensor<?x2x16xf32>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x2x2x16xf32>, tensor<?x2x2x16xf32>) outs(%e : tensor<?x2x16xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %v = arith.mulf %gate, %up : f32
    linalg.yield %v : f32
  } -> tensor<?x2x16xf32>
  return %h : tensor<?x2x16xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Another operand is a tensor.

// CHECK-LABEL: func.func @tensor_operand(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<?x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @tensor_operand__grouped_matmul(
// CHECK-NOT:     pairs
func.func @tensor_operand(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>, %z: tensor<?x4x8xf32>)
    -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xf32>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p, %z : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>, tensor<?x4x8xf32>) outs(%e : tensor<?x4x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %other: f32, %old: f32):
    %g = arith.addf %gate, %other : f32
    %v = arith.mulf %g, %up : f32
    linalg.yield %v : f32
  } -> tensor<?x4x8xf32>
  return %h : tensor<?x4x8xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// It adds to what was there.

// CHECK-LABEL: func.func @reads_init(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<?x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @reads_init__grouped_matmul(
// CHECK-NOT:     pairs
func.func @reads_init(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>, %e: tensor<?x4x8xf32>)
    -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %g = arith.mulf %gate, %up : f32
    %v = arith.addf %g, %old : f32
    linalg.yield %v : f32
  } -> tensor<?x4x8xf32>
  return %h : tensor<?x4x8xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Memory holds narrow floats as bytes.

// CHECK-LABEL: func.func @narrow(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<?x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @narrow__grouped_matmul(
// CHECK-NOT:     pairs
func.func @narrow(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> tensor<?x4x8xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xf8E4M3FN>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xf8E4M3FN>) {
  ^bb0(%gate: f32, %up: f32, %old: f8E4M3FN):
    %v = arith.mulf %gate, %up : f32
    %n = arith.truncf %v : f32 to f8E4M3FN
    linalg.yield %n : f8E4M3FN
  } -> tensor<?x4x8xf8E4M3FN>
  return %h : tensor<?x4x8xf8E4M3FN>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Each warp has 8 columns.

// CHECK-LABEL: func.func @narrow_warps(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<?x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @narrow_warps__grouped_matmul(
// CHECK-NOT:     pairs
func.func @narrow_warps(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc {
      blockscale.path = #blockscale.path<dequant_mma>,
      blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 16, 64], warps = [2, 2], stages = 2>}
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xf32>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %v = arith.mulf %gate, %up : f32
    linalg.yield %v : f32
  } -> tensor<?x4x8xf32>
  return %h : tensor<?x4x8xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Products without groups could be split along K.

// CHECK-LABEL: func.func @dense(
// CHECK:         %[[D:.*]] = blockscale.launch {{.*}} -> tensor<32x64xf32>
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[D]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]]
// CHECK:       gpu.func @dense__matmul(
// CHECK-NOT:     pairs
func.func @dense(%x: tensor<32x128xbf16>, %y: tensor<128x64xbf16>, %acc: tensor<32x64xf32>) -> tensor<32x4x8xf32> {
  %d = linalg.matmul ins(%x, %y : tensor<32x128xbf16>, tensor<128x64xbf16>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [32, 4, 2, 8] : tensor<32x64xf32> into tensor<32x4x2x8xf32>
  %e = tensor.empty() : tensor<32x4x8xf32>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<32x4x2x8xf32>, tensor<32x4x2x8xf32>) outs(%e : tensor<32x4x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %v = arith.mulf %gate, %up : f32
    linalg.yield %v : f32
  } -> tensor<32x4x8xf32>
  return %h : tensor<32x4x8xf32>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// What pairs become is quantized in the kernel, if a warp has whole blocks of it: 32 columns for 16 of them.

// CHECK-LABEL: func.func @quantized(
// CHECK-NOT:     linalg.generic
// CHECK-NOT:     blockscale.quantize
// CHECK:         blockscale.launch @kernels::@quantized__grouped_matmul {{.*}} -> tensor<?x16xi8>, tensor<?x2xf8E4M3FN>
// CHECK-NOT:     blockscale.launch
// CHECK:       gpu.func @quantized__grouped_matmul(
// CHECK:         blockscale.acc_quantize %{{.*}} at({{.*}}) of({{.*}}) to {{.*}} pairs {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK:           %[[V:.*]] = arith.mulf
// CHECK-NEXT:      %[[ROUNDED:.*]] = arith.truncf %[[V]] : f32 to bf16
// CHECK-NEXT:      %[[E:.*]] = arith.extf %[[ROUNDED]] : bf16 to f32
// CHECK-NEXT:      blockscale.yield %[[E]]
// CHECK:         block_size = 16
func.func @quantized(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> (tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xbf16>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xbf16>) {
  ^bb0(%gate: f32, %up: f32, %old: bf16):
    %v = arith.mulf %gate, %up : f32
    %n = arith.truncf %v : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<?x4x8xbf16>
  %r = tensor.collapse_shape %h [[0], [1, 2]] : tensor<?x4x8xbf16> into tensor<?x32xbf16>
  %q, %s = blockscale.quantize %r {block_size = 16 : i64} : tensor<?x32xbf16> to tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>
  return %q, %s : tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Here it has 32 columns, and blocks are of 64.

// CHECK-LABEL: func.func @wide_blocks(
// CHECK:         blockscale.launch @kernels::@wide_blocks__grouped_matmul{{.*}} -> tensor<?x32xbf16>
// CHECK:         blockscale.launch @kernels::@wide_blocks__quantize
// CHECK:         blockscale.acc_for_each {{.*}} pairs {
// CHECK-NOT:     blockscale.acc_quantize
func.func @wide_blocks(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> (tensor<?x32xf8E4M3FN>, tensor<?x1xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xbf16>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xbf16>) {
  ^bb0(%gate: f32, %up: f32, %old: bf16):
    %v = arith.mulf %gate, %up : f32
    %n = arith.truncf %v : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<?x4x8xbf16>
  %r = tensor.collapse_shape %h [[0], [1, 2]] : tensor<?x4x8xbf16> into tensor<?x32xbf16>
  %q, %s = blockscale.quantize %r {block_size = 32 : i64} : tensor<?x32xbf16> to tensor<?x32xf8E4M3FN>, tensor<?x1xf8E8M0FNU>
  return %q, %s : tensor<?x32xf8E4M3FN>, tensor<?x1xf8E8M0FNU>
}

// -----

#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>

// Pairs of products without groups are not combined in the kernel, and a quantize behind them has its own.

// CHECK-LABEL: func.func @no_groups(
// CHECK:         blockscale.launch @kernels::@no_groups__matmul{{.*}} -> tensor<?x64xf32>
// CHECK:         linalg.generic
// CHECK:         blockscale.launch @kernels::@no_groups__quantize
// CHECK-NOT:     blockscale.launch
// CHECK:         return
func.func @no_groups(%x: tensor<?x128xbf16>, %y: tensor<128x64xbf16>, %acc: tensor<?x64xf32>)
    -> (tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %d = linalg.matmul ins(%x, %y : tensor<?x128xbf16>, tensor<128x64xbf16>) outs(%acc : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xbf16>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xbf16>) {
  ^bb0(%gate: f32, %up: f32, %old: bf16):
    %v = arith.mulf %gate, %up : f32
    %n = arith.truncf %v : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<?x4x8xbf16>
  %r = tensor.collapse_shape %h [[0], [1, 2]] : tensor<?x4x8xbf16> into tensor<?x32xbf16>
  %q, %s = blockscale.quantize %r {block_size = 16 : i64} : tensor<?x32xbf16> to tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>
  return %q, %s : tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>
}
