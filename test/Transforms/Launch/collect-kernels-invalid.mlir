// Ops that would have to run between kernels.

// RUN: blockscale-opt %s --blockscale-collect-kernels -split-input-file -verify-diagnostics

func.func @store(%x: memref<8xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{not supported in this version: 'memref.store' outside of kernels on a GPU target}}
  memref.store %v, %x[%c0] : memref<8xf32>
  return
}

// -----

func.func @call(%v: f32) {
  // expected-error@+1 {{not supported in this version: 'math.exp' outside of kernels on a GPU target}}
  %r = math.exp %v : f32
  return
}

// -----

func.func @loop(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{not supported in this version: 'scf.for' outside of kernels on a GPU target}}
  scf.for %i = %c0 to %c1 step %c1 {
  }
  return
}

// -----

func.func @scalar_result(%v: f32) -> f32 {
  // expected-error@+1 {{not supported in this version: 'func.return' outside of kernels on a GPU target}}
  return %v : f32
}

// -----

module attributes {gpu.container_module} {
  func.func @shared(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    // expected-error@+1 {{expected a kernel of its own, got @kernels::@k}}
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<8xf32>) kernel {
      gpu.return
    }
  }
}

// -----

// Workspace is the bytes of its elements, one after the other.
func.func @odd_width() {
  // expected-error@+1 {{not supported in this version: elements of 'i24' between ops on a GPU target, expected those of 1, 8, 16, 32 or 64 bits in row-major order}}
  %t = memref.alloc() : memref<4xi24>
  return
}

// -----

func.func @strided() {
  // expected-error@+1 {{not supported in this version: elements of 'f32' between ops on a GPU target, expected those of 1, 8, 16, 32 or 64 bits in row-major order}}
  %t = memref.alloc() : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @of_vectors() {
  // expected-error@+1 {{not supported in this version: elements of 'vector<4xf32>' between ops on a GPU target, expected those of 1, 8, 16, 32 or 64 bits in row-major order}}
  %t = memref.alloc() : memref<4xvector<4xf32>>
  return
}

// -----

module attributes {gpu.container_module} {
  func.func @no_purpose(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    return
  }
  gpu.module @kernels {
    // expected-error@+1 {{expected one of "mma_scaled" "sparse_mma_scaled" "grouped_mma_scaled" "grouped_matmul" "matmul" "swizzle_scales" "decompress" "transpose" "quantize" "dequantize" "rebase" "reduce" "softmax" "route" "sort_routes" "combine_rows" "split_k_reduction" "dequantize_operand" "permute" "exact_recomputation" "checks" "loops" as 'blockscale.purpose', got "sums"}}
    gpu.func @k(%x: memref<8xf32>) kernel attributes {blockscale.purpose = "sums"} {
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  func.func @card(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    // A kernel does not know it.
    // expected-error@+1 {{not supported in this version: 'blockscale.sm_count' between kernels on a GPU target}}
    %n = blockscale.sm_count
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %n : index)
    return
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<8xf32>, %n: index) kernel {
      gpu.return
    }
  }
}

// -----

// Parameters are those of one function.
module attributes {gpu.container_module} {
  func.func @first(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    return
  }
  func.func @second(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error@+1 {{expected a kernel of its own, got @kernels::@k}}
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<8xf32>) kernel {
      gpu.return
    }
  }
}
