// The loops that define route and sort_routes.

// RUN: blockscale-opt %s --blockscale-decompose --split-input-file | FileCheck %s

// A slot searches for the best key once for itself, and once for each slot before it. Keys have columns in their lower
// half. The weight is over the sum of all groups.

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    %[[LOGITS:[a-z0-9]+]]: tensor<5x8xbf16>)
// CHECK:         %[[IDS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<5x3xi32>)
// CHECK:           %[[SLOT:.*]] = linalg.index 1
// CHECK:           %[[END:.*]] = arith.addi %[[SLOT]], %c1
// CHECK:           %[[KEY:.*]] = scf.for %{{.*}} = %c0 to %[[END]] step %c1 iter_args(%[[BEFORE:.*]] = %c-1_i64) -> (i64)
// CHECK:             scf.for %[[COLUMN:.*]] = %c0 to %c8 step %c1 iter_args(%[[BEST:.*]] = %c0_i64) -> (i64)
// CHECK:               %[[LOGIT:.*]] = tensor.extract %[[LOGITS]][%{{.*}}, %[[COLUMN]]]
// CHECK:               arith.extf %[[LOGIT]] : bf16 to f32
// CHECK:               %[[IS_LEFT:.*]] = arith.cmpi ult, %[[OWN:.*]], %[[BEFORE]] : i64
// CHECK:               %[[LARGER:.*]] = arith.maxui %[[OWN]], %[[BEST]] : i64
// CHECK:               arith.select %[[IS_LEFT]], %[[LARGER]], %[[BEST]] : i64
// CHECK:           %[[HALF:.*]] = arith.trunci %[[KEY]] : i64 to i32
// CHECK:           %[[ID:.*]] = arith.xori %[[HALF]], %c-1_i32
// CHECK:           linalg.yield %[[ID]] : i32
// CHECK:         %[[WEIGHTS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<5x3xf32>)
// CHECK:           tensor.extract %[[IDS]][%{{.*}}, %c0] : tensor<5x3xi32>
// CHECK:           %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c8 step %c1 iter_args(%{{.*}} = %cst) -> (f32)
// CHECK:             math.exp
// CHECK:             arith.addf
// CHECK:           %[[POWER:.*]] = math.exp
// CHECK:           arith.divf %[[POWER]], %[[SUM]] : f32
// CHECK:         return %[[IDS]], %[[WEIGHTS]]
func.func @softmax(%l: tensor<5x8xbf16>) -> (tensor<5x3xi32>, tensor<5x3xf32>) {
  %i, %w = blockscale.route %l {top_k = 3 : i64, scoring = #blockscale.scoring<softmax>}
      : tensor<5x8xbf16> to tensor<5x3xi32>, tensor<5x3xf32>
  return %i, %w : tensor<5x3xi32>, tensor<5x3xf32>
}

// -----

// CHECK-LABEL: func.func @softmax_of_chosen(
// CHECK-SAME:    %[[LOGITS:[a-z0-9]+]]: tensor<?x8xf32>)
// CHECK:         %[[IDS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x3xi32>)
// CHECK-NOT:       arith.extf
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<?x3xf32>)
// CHECK:           scf.for %[[J:.*]] = %c0 to %c3 step %c1 iter_args(%{{.*}} = %cst) -> (f32)
// CHECK:             tensor.extract %[[IDS]][%{{.*}}, %[[J]]]
// CHECK:             tensor.extract %[[LOGITS]]
// CHECK:             math.exp
func.func @softmax_of_chosen(%l: tensor<?x8xf32>) -> (tensor<?x3xi32>, tensor<?x3xf32>) {
  %i, %w = blockscale.route %l {top_k = 3 : i64, scoring = #blockscale.scoring<softmax_of_chosen>}
      : tensor<?x8xf32> to tensor<?x3xi32>, tensor<?x3xf32>
  return %i, %w : tensor<?x3xi32>, tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @logits(
// CHECK-SAME:    %[[LOGITS:[a-z0-9]+]]: tensor<5x8xf16>)
// CHECK:         linalg.generic
// CHECK-NOT:       math.exp
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<5x3xf32>)
// CHECK-NOT:       scf.for
// CHECK:           %[[LOGIT:.*]] = tensor.extract %[[LOGITS]]
// CHECK:           %[[WEIGHT:.*]] = arith.extf %[[LOGIT]] : f16 to f32
// CHECK:           linalg.yield %[[WEIGHT]] : f32
func.func @logits(%l: tensor<5x8xf16>) -> (tensor<5x3xi32>, tensor<5x3xf32>) {
  %i, %w = blockscale.route %l {top_k = 3 : i64, scoring = #blockscale.scoring<logits>}
      : tensor<5x8xf16> to tensor<5x3xi32>, tensor<5x3xf32>
  return %i, %w : tensor<5x3xi32>, tensor<5x3xf32>
}

// -----

// Slots of each group are counted, counts become ends and starts, and starts go up as slots are placed.

// CHECK-LABEL: func.func @sort(
// CHECK-SAME:    %[[IDS:[a-z0-9]+]]: tensor<?x2xi64>, %[[G:[a-z0-9]+]]: index)
// CHECK:         %[[ZEROS:.*]] = linalg.fill ins(%c0_i32 : i32)
// CHECK:         %[[COUNTS:.*]] = scf.for %[[S:.*]] = %c0 to %{{.*}} step %c1 iter_args(%{{.*}} = %[[ZEROS]])
// CHECK:           scf.for %[[J:.*]] = %c0 to %c2 step %c1
// CHECK:             %[[ID:.*]] = tensor.extract %[[IDS]][%[[S]], %[[J]]]
// CHECK:             %[[GROUP:.*]] = arith.index_cast %[[ID]] : i64 to index
// CHECK:             %[[IS_GROUP:.*]] = arith.cmpi ult, %[[GROUP]], %[[G]]
// CHECK:             scf.if %[[IS_GROUP]]
// CHECK:               tensor.insert
// CHECK:         %[[ENDS:.*]]:3 = scf.for %[[OF:.*]] = %c0 to %[[G]] step %c1 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[COUNTS]], %[[START:.*]] = %c0_i32)
// CHECK:           %[[END:.*]] = arith.addi %[[START]], %{{.*}} : i32
// CHECK:           tensor.insert %[[END]] into %{{.*}}[%[[OF]]]
// CHECK:           tensor.insert %[[START]] into %{{.*}}[%[[OF]]]
// CHECK:         %[[NO_ROWS:.*]] = linalg.fill ins(%c-1_i32 : i32)
// CHECK:         %[[NO_POSITIONS:.*]] = linalg.fill ins(%c-1_i32 : i32)
// CHECK:         %[[SORTED:.*]]:3 = scf.for %[[ROW:.*]] = %c0 to %{{.*}} step %c1 iter_args(%{{.*}} = %[[ENDS]]#1, %{{.*}} = %[[NO_ROWS]], %{{.*}} = %[[NO_POSITIONS]])
// CHECK:           scf.if
// CHECK:             %[[PLACE:.*]] = tensor.extract
// CHECK:             %[[NUMBER:.*]] = arith.index_cast %[[ROW]] : index to i32
// CHECK:             %[[NEXT:.*]] = arith.addi %[[PLACE]], %c1_i32
// CHECK:             tensor.insert %[[NEXT]]
// CHECK:             tensor.insert %[[NUMBER]]
// CHECK:             tensor.insert %[[PLACE]]
// CHECK:         return %[[ENDS]]#0, %[[SORTED]]#1, %[[SORTED]]#2
func.func @sort(%i: tensor<?x2xi64>, %g: index) -> (tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>) {
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<?x2xi64> to tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>
  return %o, %r, %p : tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>
}
