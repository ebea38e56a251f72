"""Prints a function with a long chain of views: views.py KIND LENGTH."""

import sys

kind, length = sys.argv[1], int(sys.argv[2])
if kind == "slices":
    # Each leaves out the first element.
    print(f"func.func @slices(%v0: tensor<{length + 4}xf32>, %y: tensor<4xf32>)")
    print("    -> tensor<4xf32> {")
    for i in range(length):
        size = length + 4 - i
        print(
            f"  %v{i + 1} = tensor.extract_slice %v{i}[1] [{size - 1}] [1]"
            f" : tensor<{size}xf32> to tensor<{size - 1}xf32>"
        )
    print(f"  %r = arith.addf %y, %v{length} : tensor<4xf32>")
    print("  return %r : tensor<4xf32>\n}")
elif kind == "transposes":
    print(
        "func.func @transposes(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,\n"
        "    %v0: tensor<32x8xf8E5M2>, %sy: tensor<1x8xf8E8M0FNU>, %c: tensor<16x8xf32>)\n"
        "    -> tensor<16x8xf32> {\n"
        "  %e0 = tensor.empty() : tensor<8x32xf8E5M2>\n"
        "  %e1 = tensor.empty() : tensor<32x8xf8E5M2>"
    )
    shapes = ["32x8", "8x32"]
    for i in range(length // 2 * 2):
        print(
            f"  %v{i + 1} = linalg.transpose ins(%v{i} : tensor<{shapes[i % 2]}xf8E5M2>)"
            f" outs(%e{i % 2} : tensor<{shapes[(i + 1) % 2]}xf8E5M2>) permutation = [1, 0]"
        )
    print(
        f"  %d = blockscale.mma_scaled %x, %sx, %v{length // 2 * 2}, %sy, %c\n"
        "       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<32x8xf8E5M2>,\n"
        "         tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>\n"
        "  return %d : tensor<16x8xf32>\n}"
    )
elif kind == "launch":
    print("module attributes {gpu.container_module} {")
    print("  func.func @launch(%v0: memref<8x4xf32>) {")
    print("    %c1 = arith.constant 1 : index")
    for i in range(0, length // 2 * 2, 2):
        print(
            f"    %v{i + 1} = memref.collapse_shape %v{i} [[0, 1]]"
            " : memref<8x4xf32> into memref<32xf32>"
        )
        print(
            f"    %v{i + 2} = memref.expand_shape %v{i + 1} [[0, 1]] output_shape [8, 4]"
            " : memref<32xf32> into memref<8x4xf32>"
        )
    print(
        "    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1)\n"
        f"        threads in (%c1, %c1, %c1) args(%v{length // 2 * 2} : memref<8x4xf32>)\n"
        "    return\n  }\n"
        "  gpu.module @kernels {\n"
        "    gpu.func @kernel(%v: memref<8x4xf32>) kernel {\n"
        "      gpu.return\n    }\n  }\n}"
    )
