"""Ops on views of dynamic sizes, and results that are such views: the CPU and every chip agree."""

import numpy as np
import outcomes
import pytest

RNG = np.random.default_rng(5)
F32 = np.float32(RNG.integers(-4, 5, (6, 8)))
F32_3D = np.float32(RNG.integers(-4, 5, (2, 3, 32)))


class Text:
    """A program as a text, with the data of its arguments."""

    tolerance = 0.0

    def __init__(self, text, *arrays):
        self.p = self
        self.arrays = arrays
        self._text = text

    def text(self):
        return self._text


VIEWS = {
    "sum of a collapsed argument": Text("""
func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %r = arith.addf %c, %c : tensor<?xf32>
  return %r : tensor<?xf32>
}""", F32),
    "sum of an expanded argument": Text("""
func.func @main(%x: tensor<?x8xf32>, %n: index) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %q = arith.ceildivui %m, %n : index
  %e = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, %q, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  %r = arith.mulf %e, %e : tensor<?x?x8xf32>
  return %r : tensor<?x?x8xf32>
}""", F32, np.int64(3)),
    "sum of a row": Text("""
func.func @main(%x: tensor<?x?xf32>, %i: index) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %s = tensor.extract_slice %x[%i, 0] [1, %n] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
  %r = arith.addf %s, %s : tensor<?xf32>
  return %r : tensor<?xf32>
}""", F32, np.int64(4)),
    "a value, and a view of it": Text("""
func.func @main(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  %a = arith.addf %x, %x : tensor<?x8xf32>
  %c = tensor.collapse_shape %a [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
  %d = tensor.collapse_shape %x [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
  %r = arith.mulf %c, %d : tensor<?xf32>
  return %r : tensor<?xf32>
}""", F32),
    "casts of dynamic rows": Text("""
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %i = arith.fptosi %x : tensor<?x8xf32> to tensor<?x8xi5>
  %r = arith.sitofp %i : tensor<?x8xi5> to tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}""", F32),
    "quantize of an expanded argument": Text("""
func.func @main(%x: tensor<?x32xf32>, %n: index) -> tensor<?x?x32xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x32xf32>
  %q = arith.divui %m, %n : index
  %e = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, %q, 32] : tensor<?x32xf32> into tensor<?x?x32xf32>
  %c, %s = blockscale.quantize %e {block_size = 32 : i64} : tensor<?x?x32xf32> to tensor<?x?x32xf8E4M3FN>, tensor<?x?x1xf8E8M0FNU>
  return %c : tensor<?x?x32xf8E4M3FN>
}""", F32_3D.reshape(6, 32), np.int64(2)),
    "quantize of a collapsed argument": Text("""
func.func @main(%x: tensor<?x?x32xf32>) -> tensor<?x32xf4E2M1FN> {
  %e = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x32xf32> into tensor<?x32xf32>
  %c, %s = blockscale.quantize %e {block_size = 32 : i64} : tensor<?x32xf32> to tensor<?x32xf4E2M1FN>, tensor<?x1xf8E8M0FNU>
  return %c : tensor<?x32xf4E2M1FN>
}""", F32_3D),
    "heads of a product": Text("""
func.func @main(%x: tensor<?x?x32xf8E4M3FN>, %xs: tensor<?x?x1xf8E8M0FNU>, %y: tensor<32x16xf8E4M3FN>, %ys: tensor<1x16xf8E8M0FNU>)
    -> tensor<?x?x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x32xf8E4M3FN>
  %t = tensor.dim %x, %c1 : tensor<?x?x32xf8E4M3FN>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x32xf8E4M3FN> into tensor<?x32xf8E4M3FN>
  %scales = tensor.collapse_shape %xs [[0, 1], [2]] : tensor<?x?x1xf8E8M0FNU> into tensor<?x1xf8E8M0FNU>
  %m = tensor.dim %rows, %c0 : tensor<?x32xf8E4M3FN>
  %e = tensor.empty(%m) : tensor<?x16xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %d = blockscale.mma_scaled %rows, %scales, %y, %ys, %acc
     : tensor<?x32xf8E4M3FN>, tensor<?x1xf8E8M0FNU>, tensor<32x16xf8E4M3FN>, tensor<1x16xf8E8M0FNU>, tensor<?x16xf32>
  %s = tensor.expand_shape %d [[0, 1], [2]] output_shape [%b, %t, 16] : tensor<?x16xf32> into tensor<?x?x16xf32>
  %init = tensor.empty(%t, %b) : tensor<?x?x16xf32>
  %r = linalg.transpose ins(%s : tensor<?x?x16xf32>) outs(%init : tensor<?x?x16xf32>) permutation = [1, 0, 2]
  return %r : tensor<?x?x16xf32>
}""", RNG.integers(0x30, 0x40, (2, 3, 32), np.uint8), np.full((2, 3, 1), 127, np.uint8),
        RNG.integers(0x30, 0x40, (32, 16), np.uint8), np.full((1, 16), 128, np.uint8)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_view(name, tmp_path):
    targets = [target for target in outcomes.TARGETS if target != "sm_120a-bulk"]
    found = outcomes.compare(tmp_path, VIEWS[name], targets)
    assert set(found.values()) == {"same"}, found
