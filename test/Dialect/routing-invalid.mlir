// RUN: blockscale-opt --split-input-file --verify-diagnostics %s

func.func @logits_type(%l: tensor<6x8xf64>) {
  // expected-error @+1 {{operand #0 must be 2D tensor of 32-bit float or bfloat16 type or 16-bit float values, but got 'tensor<6x8xf64>'}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x8xf64> to tensor<6x2xi32>, tensor<6x2xf32>
  return
}

// -----

func.func @o1_rank(%l: tensor<8xf32>) {
  // expected-error @+1 {{operand #0 must be 2D tensor of}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>} : tensor<8xf32> to tensor<6x2xi32>, tensor<6x2xf32>
  return
}

// -----

func.func @ids_type_of_route(%l: tensor<6x8xf32>) {
  // expected-error @+1 {{result #0 must be 2D tensor of 32-bit signless integer values, but got 'tensor<6x2xi64>'}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x8xf32> to tensor<6x2xi64>, tensor<6x2xf32>
  return
}

// -----

func.func @weights_type(%l: tensor<6x8xf32>) {
  // expected-error @+1 {{result #1 must be 2D tensor of 32-bit float values, but got 'tensor<6x2xbf16>'}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x8xf32> to tensor<6x2xi32>, tensor<6x2xbf16>
  return
}

// -----

func.func @o1_encoding(%l: tensor<6x8xf32, 1>) {
  // expected-error @+1 {{expected tensors without encoding, got 'tensor<6x8xf32, 1 : i64>'}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x8xf32, 1> to tensor<6x2xi32>, tensor<6x2xf32>
  return
}

// -----

func.func @o2_ids(%l: tensor<6x8xf32>) {
  // expected-error @+1 {{expected ids to have the S of logits, 6, got 5}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x8xf32> to tensor<5x2xi32>, tensor<6x2xf32>
  return
}

// -----

func.func @o2_weights(%l: tensor<6x8xf32>) {
  // expected-error @+1 {{expected weights to have the S of logits, 6, got 7}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x8xf32> to tensor<6x2xi32>, tensor<7x2xf32>
  return
}

// -----

// Both have the one dynamic size.

func.func @o2_both(%l: tensor<?x8xf32>) {
  // expected-error @+1 {{expected weights to have the S of ids, 5, got 7}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>} : tensor<?x8xf32> to tensor<5x2xi32>, tensor<7x2xf32>
  return
}

// -----

func.func @o3_none(%l: tensor<6x8xf32>) {
  // expected-error @+1 {{expected top_k to be from 1 to 32, got 0}}
  %i, %w = blockscale.route %l {top_k = 0 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x8xf32> to tensor<6x0xi32>, tensor<6x0xf32>
  return
}

// -----

func.func @o3_negative(%l: tensor<6x8xf32>) {
  // expected-error @+1 {{expected top_k to be from 1 to 32, got -1}}
  %i, %w = blockscale.route %l {top_k = -1 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x8xf32> to tensor<6x2xi32>, tensor<6x2xf32>
  return
}

// -----

func.func @o3_many(%l: tensor<6x64xf32>) {
  // expected-error @+1 {{expected top_k to be from 1 to 32, got 33}}
  %i, %w = blockscale.route %l {top_k = 33 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x64xf32> to tensor<6x33xi32>, tensor<6x33xf32>
  return
}

// -----

func.func @o3_groups(%l: tensor<?x3xf32>) {
  // expected-error @+1 {{expected at least top_k = 4 groups, got 3}}
  %i, %w = blockscale.route %l {top_k = 4 : i64, scoring = #blockscale.scoring<softmax>} : tensor<?x3xf32> to tensor<?x4xi32>, tensor<?x4xf32>
  return
}

// -----

func.func @o3_columns_of_ids(%l: tensor<6x8xf32>) {
  // expected-error @+1 {{expected ids to have top_k = 2 columns, got 3}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x8xf32> to tensor<6x3xi32>, tensor<6x2xf32>
  return
}

// -----

func.func @o3_columns_of_weights(%l: tensor<6x8xf32>) {
  // expected-error @+1 {{expected weights to have top_k = 2 columns, got 1}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>} : tensor<6x8xf32> to tensor<6x2xi32>, tensor<6x1xf32>
  return
}

// -----

func.func @scoring(%l: tensor<6x8xf32>) {
  // expected-error @+2 {{expected ::mlir::blockscale::Scoring to be one of: logits, softmax, softmax_of_chosen}}
  // expected-error @+1 {{failed to parse BlockScale_ScoringAttr parameter 'value'}}
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<sigmoid>} : tensor<6x8xf32> to tensor<6x2xi32>, tensor<6x2xf32>
  return
}

// -----

func.func @ids_type(%i: tensor<6x2xi16>) {
  %g = arith.constant 4 : index
  // expected-error @+1 {{operand #0 must be 2D tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<6x2xi16>'}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi16> to tensor<4xi32>, tensor<12xi32>, tensor<6x2xi32>
  return
}

// -----

func.func @o4_rank(%i: tensor<6x2xi32>) {
  %g = arith.constant 4 : index
  // expected-error @+1 {{result #1 must be 1D tensor of 32-bit signless integer values, but got 'tensor<6x2xi32>'}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<4xi32>, tensor<6x2xi32>, tensor<6x2xi32>
  return
}

// -----

func.func @o4_encoding(%i: tensor<6x2xi32>) {
  %g = arith.constant 4 : index
  // expected-error @+1 {{expected tensors without encoding, got 'tensor<12xi32, 1 : i64>'}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<4xi32>, tensor<12xi32, 1>, tensor<6x2xi32>
  return
}

// -----

func.func @o5_rows_of_positions(%i: tensor<6x2xi32>) {
  %g = arith.constant 4 : index
  // expected-error @+1 {{expected positions to have the S of ids, 6, got 5}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<4xi32>, tensor<12xi32>, tensor<5x2xi32>
  return
}

// -----

func.func @o5_columns_of_positions(%i: tensor<6x2xi32>) {
  %g = arith.constant 4 : index
  // expected-error @+1 {{expected positions to have the J of ids, 2, got 3}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<4xi32>, tensor<12xi32>, tensor<6x3xi32>
  return
}

// -----

func.func @o5_offsets(%i: tensor<6x2xi32>) {
  %g = arith.constant 4 : index
  // expected-error @+1 {{expected offsets of 4 groups, got 5}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<5xi32>, tensor<12xi32>, tensor<6x2xi32>
  return
}

// -----

func.func @o5_rows(%i: tensor<6x2xi32>) {
  %g = arith.constant 4 : index
  // expected-error @+1 {{expected rows to have S * J = 12 elements, got 6}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<4xi32>, tensor<6xi32>, tensor<6x2xi32>
  return
}

// -----

func.func @o6_no_groups(%i: tensor<6x2xi32>) {
  %g = arith.constant 0 : index
  // expected-error @+1 {{expected from 1 to 2048 groups, got 0}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<?xi32>, tensor<12xi32>, tensor<6x2xi32>
  return
}

// -----

func.func @o6_groups(%i: tensor<6x2xi32>) {
  %g = arith.constant 2049 : index
  // expected-error @+1 {{expected from 1 to 2048 groups, got 2049}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<2049xi32>, tensor<12xi32>, tensor<6x2xi32>
  return
}

// -----

// The size of offsets says how many there are, too.

func.func @o6_groups_of_offsets(%i: tensor<6x2xi32>, %g: index) {
  // expected-error @+1 {{expected from 1 to 2048 groups, got 2049}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<2049xi32>, tensor<12xi32>, tensor<6x2xi32>
  return
}

// -----

func.func @o6_slots_of_row(%i: tensor<6x0xi32>) {
  %g = arith.constant 4 : index
  // expected-error @+1 {{expected J to be at least 1, got 0 in dimension 1 of ids ('tensor<6x0xi32>')}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x0xi32> to tensor<4xi32>, tensor<0xi32>, tensor<6x0xi32>
  return
}

// -----

func.func @o6_overflow(%i: tensor<4294967296x4294967296xi32>) {
  %g = arith.constant 4 : index
  // expected-error @+1 {{expected less than 2^31 slots, got 4294967296 times 4294967296}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<4294967296x4294967296xi32> to tensor<4xi32>, tensor<?xi32>, tensor<4294967296x4294967296xi32>
  return
}

// -----

func.func @o6_slots(%i: tensor<1073741824x2xi32>) {
  %g = arith.constant 4 : index
  // expected-error @+1 {{expected less than 2^31 slots, got 1073741824 times 2}}
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<1073741824x2xi32> to tensor<4xi32>, tensor<?xi32>, tensor<1073741824x2xi32>
  return
}
