"""2:4 sparse weights of blockscale.torch, but for what torch does: values on the CPU, launches, checks, checkpoints."""

import blockscale
import numpy as np
import pytest
from test_torch_host import ACTIVATIONS, Model, close, distributed, random_values

# Elements, scales, logical block, granularity, logical elements of a byte of metadata.
SPARSE = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 64, "2:4", 8), "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 64, "pairs", 16),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 32, "pairs", 16),
}
FORMATS = list(SPARSE)


def make_weight(torch, format, n=24, k=192, **options):
    from blockscale.torch import QuantizedTensor

    return QuantizedTensor.from_float(random_values(torch, n, k, **options), format, sparse=True)


def reference(array, format):
    """(kept elements, one in a byte, metadata, scales, values, g) of values that are sparsified first."""
    element, scale, block, granularity, _ = SPARSE[format]
    array = blockscale.sparsify(array, granularity)
    g = {"tensor_scale": np.abs(array).max() / np.float32(2688)} if format == "nvfp4" else {}
    codes, scales = blockscale.quantize(array, element, scale, block, **g)
    kept, metadata = blockscale.compress(codes, element, granularity)
    values = blockscale.dequantize(codes, scales, element, scale, block, **g)
    return kept, metadata, scales, values, g.get("tensor_scale")


def unpacked(tensor, format):
    return tensor.numpy() if format == "mxfp8" else blockscale.unpack(tensor.numpy(), "f4E2M1FN")


# Values.


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("format", FORMATS)
def test_quantized_tensor(torch, format, dtype):
    from blockscale.torch import QuantizedTensor

    weight = random_values(torch, 2, 6, 192, dtype=dtype)
    made = QuantizedTensor.from_float(weight, format, sparse=True)
    kept, metadata, scales, values, g = reference(weight.float().numpy(), format)
    assert made.shape == (2, 6, 192) and made.is_sparse
    np.testing.assert_array_equal(unpacked(made.codes, format), kept)
    np.testing.assert_array_equal(made.metadata.numpy(), metadata)
    np.testing.assert_array_equal(made.scales.numpy(), scales)
    assert made.tensor_scale is None if g is None else float(made.tensor_scale) == g
    np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), values)
    same = QuantizedTensor(**made[1].state_dict())
    np.testing.assert_array_equal(same.dequantize(torch.float32).numpy(), values[1])
    assert repr(same) == f"QuantizedTensor(shape=(6, 192), format='{format}', device='cpu', sparse=True)"
    # The dense format of the same name, with its blocks.
    dense = made.to_dense()
    assert not dense.is_sparse and dense.to_dense() is dense and dense.shape == made.shape
    assert dense.scales.shape[-1] == 2 * made.scales.shape[-1] and "metadata" not in dense.state_dict()
    np.testing.assert_array_equal(dense.dequantize(torch.float32).numpy(), values)


@pytest.mark.parametrize("format", FORMATS)
def test_sparsify(torch, format):
    """Bit by bit what numpy does, and nothing is lost of what has been sparsified."""
    from blockscale.torch import QuantizedTensor, sparsify

    array = np.random.default_rng(3).choice(np.float32([0, -0.0, 1, -1, 3, np.inf, -np.inf, np.nan]), (8, 128))
    made = sparsify(torch.from_numpy(array), format).numpy()
    expected = blockscale.sparsify(array, SPARSE[format][3])
    np.testing.assert_array_equal(made.view(np.uint32), expected.view(np.uint32))
    weight = random_values(torch, 8, 128)
    pruned = sparsify(weight, format)
    assert pruned.dtype is weight.dtype and (pruned.array == 0).mean() >= 0.5
    one, other = (QuantizedTensor.from_float(each, format, sparse=True) for each in (weight, pruned))
    for name, tensor in one.state_dict().items():
        if name not in ("format", "tensor_scale"):
            np.testing.assert_array_equal(tensor.numpy(), other.state_dict()[name].numpy())


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_linear_on_the_cpu(torch, format, activations, bias):
    """Against the reference of the op, whose left operand is the weight."""
    from blockscale.torch import Linear

    weight, x = random_values(torch, 23, 192), random_values(torch, 2, 3, 192, seed=1)
    added = random_values(torch, 23, dtype="float32", seed=2) if bias else None
    layer = Linear.from_linear(torch.nn.Linear(192, 23, weight, added), format, activations, sparse=True)
    out = layer(x)
    assert out.shape == (2, 3, 23) and out.dtype is torch.bfloat16
    element, scale, block, granularity, _ = SPARSE[format]
    kept, metadata, scales, values, g = reference(weight.float().numpy(), format)
    left = x.float().numpy().reshape(6, 192)
    if activations:
        gx = {"tensor_scale": np.abs(left).max() / np.float32(2688)} if format == "nvfp4" else {}
        x_codes, x_scales = blockscale.quantize(left, element, scale, block, **gx)
        expected = blockscale.sparse_mma_scaled(
            kept, metadata, scales, x_codes.T, x_scales.T, np.zeros((23, 6), np.float32), x_type=element,
            y_type=element, scale_type=scale, granularity=granularity,
        ).T.astype(np.float64) * (g * gx["tensor_scale"] if gx else 1)
    else:
        expected = left.astype(np.float64) @ values.T.astype(np.float64)
    expected = expected.reshape(2, 3, 23)
    assert close(out, expected + (added.to(torch.bfloat16).float().numpy() if bias else 0))


@pytest.mark.parametrize("special", [np.nan, np.inf])
@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_what_is_no_number(torch, format, activations, special):
    """In x it reaches its row, in the weight its column, and nothing else."""
    from blockscale.torch import Linear, QuantizedTensor

    weight = random_values(torch, 8, 128, dtype="float32").numpy()
    weight[5, 70] = special
    layer = Linear(QuantizedTensor.from_float(torch.from_numpy(weight), format, sparse=True), None, activations)
    x = random_values(torch, 4, 128, dtype="float32", seed=1).numpy()
    # In the first half of K, where the weight is finite.
    x[2, 3] = special
    out = layer(torch.from_numpy(x).to(torch.bfloat16)).values()
    there = np.isnan(out) | np.isinf(out)
    expected = np.zeros((4, 8), bool)
    expected[2], expected[:, 5] = True, True
    np.testing.assert_array_equal(there, expected)


# Launches.


def on_card(torch, format, activations=None, n=24, k=192):
    from blockscale.torch import Linear

    return Linear(make_weight(torch, format, n, k).to("cuda"), None, activations)


def test_launches(card_torch, card):
    """Weight-only: decompressed for the dense layer; with quantized x one function, which quantizes it."""
    from blockscale.torch import ops

    for format in FORMATS:
        x = random_values(card_torch, 2, 5, 192, device="cuda")
        assert on_card(card_torch, format)(x).shape == (2, 5, 24)
        names = card.kernels()
        split = [name.startswith(f"decompress_{format}") for name in names]
        assert any(split) and split == sorted(split, reverse=True)
        assert all(name.startswith(f"linear_{format}") for name in names[sum(split):]) and not all(split)
        layer = on_card(card_torch, format, "dynamic")
        assert layer(x).shape == (2, 5, 24)
        names = card.kernels()
        starts = ["tensor_scale_bf16"] * (3 if format == "nvfp4" else 0)
        starts += [f"sparse_mma_scaled_{format}"] * (len(names) - len(starts))
        assert names and all(name.startswith(start) for name, start in zip(names, starts))
        # Of a weight whose fields nobody has looked at, the op has that done, unless it is told that they are legal.
        arguments = x, layer.codes, layer.scales, layer.tensor_scale, None, format, "dynamic", layer.metadata
        for legal in (False, True):
            ops.linear(*arguments, legal)
            names = card.kernels()
            assert any(name.startswith(f"legal_metadata_{format}") for name in names) == (not legal)
            assert names[-1].startswith(f"sparse_mma_scaled_{format}")
        # Nothing to do.
        assert layer(random_values(card_torch, 2, 0, 192, device="cuda")).shape == (2, 0, 24)
        assert card.kernels() == []
        dense = make_weight(card_torch, format).to("cuda").to_dense()
        assert dense.device == "cuda" and not dense.is_sparse
        assert all(name.startswith(f"decompress_{format}") for name in card.kernels())


@pytest.mark.parametrize("function, name, purpose", [
    ("decompress_mxfp8", "sparse", "sparse weights"), ("moe_mxfp8", "moe", "mixtures of experts"),
])
def test_no_bundle(torch, monkeypatch, tmp_path, function, name, purpose):
    """Beside kernels.bundle, wherever that is."""
    from blockscale.torch import bundle

    monkeypatch.setenv("BLOCKSCALE_TORCH_BUNDLE", str(tmp_path / "other.bundle"))
    with pytest.raises(FileNotFoundError) as error:
        bundle.function(function, f"{name}.bundle")
    assert str(error.value) == (
        f"blockscale.torch: expected its kernels for {purpose} at {tmp_path}/{name}.bundle, found none: build the target "
        f"blockscale-torch-{name}-kernels, or name kernels.bundle in the same folder by BLOCKSCALE_TORCH_BUNDLE"
    )
    monkeypatch.delenv("BLOCKSCALE_TORCH_BUNDLE")
    assert [path.name for path in bundle.candidates(bundle.SPARSE_NAME)] == ["sparse.bundle"] * 2


# Modules.


def test_convert(torch):
    from blockscale.torch import Linear, convert_linear_

    model = Model(torch)
    report = convert_linear_(model, "mxfp8", "dynamic", sparse=True)
    assert len(report.converted) == 3 and not report.kept
    layer = model.get_submodule("blocks.1.up")
    assert type(layer) is Linear and layer.is_sparse and layer.quantized_weight.is_sparse
    assert "activations='dynamic', sparse=True" in layer.extra_repr()
    model = Model(torch, 96)
    with pytest.raises(ValueError, match="up: in_features 96, which is no multiple of 64"):
        convert_linear_(model, "mxfp4", sparse=True)
    assert len(convert_linear_(model, "mxfp4").converted) == 3
    with pytest.raises(TypeError, match="^sparse: expected a bool, got str"):
        convert_linear_(Model(torch), "mxfp4", sparse="2:4")


def test_buffers(torch):
    from blockscale.torch import Linear

    layer = Linear(make_weight(torch, "nvfp4"))
    assert list(layer.state_dict()) == ["codes", "scales", "tensor_scale", "metadata"]
    before = layer.metadata.array.copy()
    layer.to(torch.float16)
    assert layer.metadata.dtype is torch.uint8
    np.testing.assert_array_equal(layer.metadata.array, before)


def test_the_dispatcher_is_asked_while_something_is_traced(torch):
    from blockscale.torch import Linear, ops

    layer = Linear(make_weight(torch, "mxfp4"), None, "dynamic")
    x = random_values(torch, 4, 192)
    expected = layer(x)
    torch.compiler.is_compiling = lambda: True
    np.testing.assert_array_equal(layer(x).array, expected.array)
    torch.compiler.is_compiling = lambda: False
    assert torch.ops.called == ["linear"] and torch.ops.arguments[-5:] == (layer.metadata, True, None, False, None)
    arguments = x, layer.codes, layer.scales, None, None, "mxfp4", "dynamic"
    np.testing.assert_array_equal(ops.linear(*arguments, metadata=layer.metadata).array, expected.array)
    assert ops.linear_op.fake(*arguments, layer.metadata).shape == (4, 24)


# Checks.


@pytest.mark.parametrize("change,kind,message", [
    (lambda t, a: a.update(x=a["x"][:, :64]), ValueError,
     "x: expected a last dimension of 192, which the weight has, got shape (4, 64)"),
    (lambda t, a: a.update(metadata=[1]), TypeError, "metadata: expected a torch.Tensor, got list"),
    (lambda t, a: a.update(metadata=a["metadata"].float()), TypeError,
     "metadata: expected torch.uint8, got torch.float32"),
    (lambda t, a: a.update(metadata=a["metadata"][:, :6]), ValueError,
     "metadata of the weight: expected shape (24, 12), for codes of shape (24, 48), got (24, 6)"),
    (lambda t, a: a.update(codes=a["codes"][:, :40]), ValueError,
     "codes of the weight: expected rows of whole blocks of 64 elements, got 160"),
    (lambda t, a: a.update(scales=a["scales"][:, :2]), ValueError,
     "scales of the weight: expected shape (24, 3), for codes of shape (24, 48), got (24, 2)"),
    # Codes of half a row are a whole row of another format.
    (lambda t, a: a.update(legal_metadata=1), TypeError, "legal_metadata: expected a bool, got int"),
    (lambda t, a: a.update(metadata=None), ValueError,
     "codes of the weight: expected rows of whole blocks of 32 elements, got 48"),
    (lambda t, a: a.update(format="mxfp6"), ValueError, "format: expected one of mxfp8, mxfp4, nvfp4, got 'mxfp6'"),
    (lambda t, a: setattr(a["metadata"], "device", "cuda:1"), ValueError,
     "metadata: expected a tensor on cpu, as x is, got one on cuda:1"),
])
def test_wrong_arguments(torch, change, kind, message):
    from blockscale.torch import linear, ops

    weight = make_weight(torch, "mxfp4")
    arguments = dict(x=random_values(torch, 4, 192), codes=weight.codes, scales=weight.scales, tensor_scale=None,
                     bias=None, format="mxfp4", activations=None, metadata=weight.metadata, legal_metadata=False)
    linear(**arguments)
    change(torch, arguments)
    if message.startswith("codes of the weight: expected rows of whole blocks of 32"):
        arguments.update(codes=arguments["codes"][:, :24])
    with pytest.raises(kind) as error:
        linear(**arguments)
    assert str(error.value) == message
    with pytest.raises(kind):
        ops.linear_op.fake(*arguments.values())


def test_fields(torch):
    """Those that are not legal are found before a kernel can meet them; 0000 is legal with zeros."""
    from blockscale.torch import QuantizedTensor

    state = make_weight(torch, "mxfp8").state_dict()
    metadata = state["metadata"].clone()
    metadata.array[7, 2] = metadata.array[7, 2] & 0x0F | 0x60
    with pytest.raises(ValueError, match="metadata row 7, chunk 5: expected one of 0100, .* got 0110"):
        QuantizedTensor(**{**state, "metadata": metadata})
    metadata.array[7, 2] &= 0x0F
    with pytest.raises(ValueError, match="metadata row 7, chunk 5: .*, got 0000 with values that are not zero"):
        QuantizedTensor(**{**state, "metadata": metadata})
    codes = state["codes"].clone()
    codes.array[7, 10:12] = 0
    made = QuantizedTensor(**{**state, "metadata": metadata, "codes": codes})
    values = made.dequantize(torch.float32).numpy()
    assert (values[7, 20:24] == 0).all() and values[7].any()
    # Kernels meet no 0000; all other fields, and the caller's tensor, are as they were.
    changed = metadata.array.copy()
    changed[7, 2] |= 0x40
    np.testing.assert_array_equal(made.metadata.array, changed)
    assert metadata.array[7, 2] >> 4 == 0
    metadata.array[7, 2] |= 0x40
    assert QuantizedTensor(**{**state, "metadata": metadata, "codes": codes}).metadata is metadata


def empty_chunk(torch):
    """A layer, its state with CUTLASS's field in a chunk of zeros, and what its metadata becomes."""
    from blockscale.torch import Linear

    layer = Linear(make_weight(torch, "mxfp8"), None, "dynamic")
    state = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    state["codes"].array[3, 6:8], state["metadata"].array[3, 1] = 0, 0x48
    expected = state["metadata"].array.copy()
    state["metadata"].array[3, 1] = 0x08
    return layer, state, expected


def test_what_is_loaded_is_checked(torch):
    layer, state, expected = empty_chunk(torch)
    buffer = layer.metadata
    layer.load_state_dict(state)
    # In place, as all buffers: a captured graph has this memory.
    assert layer.metadata is buffer
    np.testing.assert_array_equal(buffer.array, expected)
    np.testing.assert_array_equal(layer.codes.array, state["codes"].array)
    assert state["metadata"].array[3, 1] == 0x08
    state["metadata"].array[3, 1] = 0x28
    with pytest.raises(RuntimeError, match="^metadata row 3, chunk 3: expected one of 0100, .* got 0010$"):
        layer.load_state_dict(state)
    # Who goes on nevertheless is told again.
    with pytest.raises(ValueError, match="^metadata row 3, chunk 3: expected one of 0100, .* got 0010$"):
        layer(random_values(torch, 2, 192))


def test_assigned_metadata(torch):
    """The caller's tensor stays as it is."""
    layer, state, expected = empty_chunk(torch)
    layer.load_state_dict(state, assign=True)
    assert layer.codes is state["codes"] and state["metadata"].array[3, 1] == 0x08
    np.testing.assert_array_equal(layer.metadata.array, expected)
    state["codes"] = torch.zeros(state["codes"].shape, torch.float8_e4m3fn)
    with pytest.raises(RuntimeError, match="codes: expected torch.uint8, got torch.float8_e4m3fn"):
        layer.load_state_dict(state, assign=True)


@pytest.mark.parametrize("first", ["codes", "metadata"])
def test_parts_of_a_checkpoint(torch, first):
    """Metadata belongs to its codes: it is looked at when both have come, and not if none has."""
    layer, state, expected = empty_chunk(torch)
    x = random_values(torch, 2, 192)
    looks = []
    make_legal = layer._make_legal
    layer._make_legal = lambda **options: (looks.append(1), make_legal(**options))[1]
    layer.load_state_dict({"scales": state["scales"]}, strict=False)
    layer(x)
    assert not looks
    for name in (first, "metadata" if first == "codes" else "codes"):
        layer.load_state_dict({name: state[name]}, strict=False)
    assert not looks
    layer(x)
    layer(x)
    assert len(looks) == 1
    np.testing.assert_array_equal(layer.metadata.array, expected)


def test_loading_on_meta(torch):
    """There is nothing to look at before the first call."""
    layer, state, expected = empty_chunk(torch)
    values = layer.metadata
    layer.metadata = torch.zeros(values.shape, torch.uint8)
    layer.metadata.is_meta = True
    layer.load_state_dict(state)
    layer.load_state_dict(state, assign=True)
    np.testing.assert_array_equal(layer.metadata.array, expected)
    # Traced before that, a kernel looks at the fields.
    layer.load_state_dict({"codes": state["codes"]}, strict=False)
    torch.compiler.is_compiling = lambda: True
    layer(random_values(torch, 4, 192))
    assert torch.ops.arguments[-5:] == (layer.metadata, False, None, False, None)


def test_every_tensor_is_one(torch):
    from blockscale.torch import QuantizedTensor, load_sparse_24_bitmask, sparsify

    state = make_weight(torch, "nvfp4").state_dict()
    values, mask = random_values(torch, 4, 64), torch.from_numpy(np.full((4, 16), 0x55, np.uint8))
    calls = [
        (QuantizedTensor, {name: value for name, value in state.items() if name != "format"}, dict(format="nvfp4")),
        (sparsify, dict(weight=values), dict(format="mxfp8")),
        (load_sparse_24_bitmask, dict(compressed=values, bitmask=mask, weight_scale=torch.ones((1,))), {}),
    ]
    for call, tensors, others in calls:
        call(**tensors, **others)
        for name, tensor in tensors.items():
            for wrong, got in (([1.0], "list"), (distributed(torch, tensor), "a DTensor")):
                with pytest.raises(TypeError) as caught:
                    call(**{**tensors, name: wrong}, **others)
                assert str(caught.value).startswith(f"{name}: expected ") and str(caught.value).endswith(f"got {got}")
            tensor.__class__ = torch.Tensor


@pytest.mark.parametrize("format", FORMATS)
def test_wrong_weights(torch, format):
    from blockscale.torch import QuantizedTensor, sparsify

    block = SPARSE[format][2]
    for call in (lambda x: QuantizedTensor.from_float(x, format, sparse=True), lambda x: sparsify(x, format)):
        with pytest.raises(ValueError, match=f"weight: expected a last dimension of whole blocks of {block}, got"):
            call(random_values(torch, 4, block // 2))
        with pytest.raises(TypeError, match="weight: expected torch.bfloat16 or torch.float16 or torch.float32, got"):
            call(torch.zeros((4, block), torch.uint8))
    with pytest.raises(TypeError, match="^sparse: expected a bool, got int"):
        QuantizedTensor.from_float(random_values(torch, 4, block), format, sparse=1)


# compressed-tensors.


def read_bitmask(values, bitmask):
    """The dense values, bit by bit, as the format's description says: one loop, nothing of this package."""
    rows, size = bitmask.shape
    dense = np.zeros((rows, 8 * size), values.dtype)
    for row in range(rows):
        stored = iter(values[row])
        for k in range(8 * size):
            if bitmask[row, k // 8] >> (k % 8) & 1:
                dense[row, k] = next(stored)
        assert next(stored, None) is None
    return dense


def make_bitmask(rng, rows, k):
    """Two of each four bits, at random."""
    bits = np.zeros((rows, k // 4, 4), bool)
    np.put_along_axis(bits, rng.permuted(np.tile(np.arange(4), (rows, k // 4, 1)), axis=-1)[..., :2], True, axis=-1)
    return np.packbits(bits.reshape(rows, k), axis=-1, bitorder="little")


def test_bitmask_of_fp8(torch):
    """Codes stay, kept zeros and NaN included."""
    from blockscale.torch import load_sparse_24_bitmask

    rng = np.random.default_rng(8)
    codes, mask = rng.integers(0, 256, (10, 96), dtype=np.uint8), make_bitmask(rng, 10, 192)
    codes[:, ::5] = rng.choice(np.uint8([0, 0x80]), codes[:, ::5].shape)
    given = torch.from_numpy(codes).view(torch.float8_e4m3fn), torch.from_numpy(mask)
    made = load_sparse_24_bitmask(*given)
    assert (made.format, made.shape, made.is_sparse) == ("mxfp8", (10, 192), True)
    np.testing.assert_array_equal(made.codes.numpy(), codes)
    assert (made.scales.numpy() == 127).all() and made.scales.shape == (10, 3)
    expected = blockscale.decode(read_bitmask(codes, mask), "f8E4M3FN")
    np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), expected)


@pytest.mark.parametrize("factors", [None, "one", "rows"])
@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "bfloat16", "float32"])
def test_bitmask_is_quantized(torch, dtype, factors):
    """The quantized form of the dense values, in the blocks of the dense matrix."""
    from blockscale.torch import load_sparse_24_bitmask

    rng = np.random.default_rng(9)
    mask = make_bitmask(rng, 10, 192)
    if dtype == "float8_e4m3fn":
        stored = torch.from_numpy(rng.integers(0, 0x7F, (10, 96), dtype=np.uint8))
        values = blockscale.decode(stored.numpy(), "f8E4M3FN").astype(np.float32)
        stored = stored.view(torch.float8_e4m3fn)
    else:
        stored = random_values(torch, 10, 96, dtype=dtype)
        values = stored.float().numpy()
    scale = {None: None, "one": np.float32([0.0137]), "rows": rng.random((10, 1), np.float32) + 0.01}[factors]
    made = load_sparse_24_bitmask(
        stored, torch.from_numpy(mask), None if scale is None else torch.from_numpy(scale)
    )
    expected = read_bitmask(values if scale is None else values * scale, mask)
    if dtype == "float8_e4m3fn" and scale is None:
        np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), expected)
        return
    codes, scales = blockscale.quantize(expected, "f8E4M3FN", "f8E8M0FNU", 64)
    np.testing.assert_array_equal(made.scales.numpy(), scales)
    np.testing.assert_array_equal(
        made.dequantize(torch.float32).numpy(), blockscale.dequantize(codes, scales, "f8E4M3FN", "f8E8M0FNU", 64)
    )


def test_wrong_bitmasks(torch):
    from blockscale.torch import load_sparse_24_bitmask

    def call(values=(4, 32), mask=(4, 8), byte=0x55, scale=None, dtype="bfloat16"):
        load_sparse_24_bitmask(
            torch.zeros(values, getattr(torch, dtype)), torch.from_numpy(np.full(mask, byte, np.uint8)),
            scale if scale is None else torch.ones(*scale),
        )

    call()
    for arguments, kind, message in (
        (dict(dtype="uint8"), TypeError, "compressed: expected torch.float8_e4m3fn or torch.bfloat16 or .*uint8"),
        (dict(values=(32,), mask=(8,)), ValueError, r"compressed: expected at least 2 dimensions, got shape \(32,\)"),
        (dict(values=(4, 16), mask=(4, 4)), ValueError, "compressed: expected rows of whole blocks of 32 stored"),
        (dict(mask=(4, 16)), ValueError, r"bitmask: expected shape \(4, 8\), for compressed of shape \(4, 32\), got"),
        (dict(byte=0x57), ValueError, "bitmask row 0, chunk 0: expected 2 of 4 bits set, got 3"),
        (dict(scale=((3, 1),)), ValueError, r"weight_scale: expected one value or shape \(4, 1\), got shape \(3, 1\)"),
        (dict(scale=((4,),)), ValueError, r"weight_scale: expected one value or shape \(4, 1\), got shape \(4,\)"),
        (dict(scale=((1,), torch.uint8)), TypeError, "weight_scale: expected torch.bfloat16 or .* got torch.uint8"),
    ):
        with pytest.raises(kind, match=message):
            call(**arguments)
    with pytest.raises(TypeError, match="bitmask: expected torch.uint8, got torch.bool"):
        load_sparse_24_bitmask(torch.zeros((4, 32), torch.bfloat16), torch.zeros((4, 8), torch.bool))
