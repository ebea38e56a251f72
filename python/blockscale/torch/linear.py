"""Linear layers with quantized weights, and the conversion of models to them."""

import torch
from torch import nn

from . import formats, ops
from .checks import (
    STATIC,
    check_accumulate,
    check_activations,
    check_bias,
    check_devices,
    check_flag,
    check_input_scale,
    check_quantized,
    check_tensors,
    check_x,
    fail,
    legal_metadata,
)
from .checkpoints import factor_of_x, load_fp8_block_deepseek, weight_of_one_factor
from .conversion import OWN, KeptTypes, convert_modules
from .fp8_kernels import CHUNK
from .quantized import QuantizedTensor

# The class of transformers' layers that hold FP8 checkpoints, whose kernels add up 128 products at a time.
FP8_LINEAR = "FP8Linear"


class Linear(KeptTypes):
    """x times the transpose of a quantised weight, plus bias: replaces `torch.nn.Linear` for inference.

    weight       a QuantizedTensor of N x K, which may be sparse
    bias         bf16 of N (other types are rounded), or None
    activations  None: weight-only quantization, x stays bf16. "dynamic": x is quantised to the weight's format, which
                 fp8_block and fp8_row need, or have "static" instead: x is quantized by `input_scale`. "mxfp8" or
                 "fp8_row": x is quantized to that, beside a weight of mxfp4, with accumulate=128 and rebase=True
    accumulate   None, or 128 to permit the sums of fp8 tensor cores (docs/Numerics.md), for fp8_block, fp8_row, and for
                 others with `rebase`
    rebase       for mxfp8 and mxfp4 with quantized x and accumulate=128: True permits one scale for each row, too
    input_scale  for "static" activations: f32, bf16 or f16, one finite value above 0, by which x is divided

    x is bf16 of (..., K), the result bf16 of (..., N); other types of x raise TypeError. `codes`, `scales`,
    `tensor_scale`, `metadata`, `input_scale` and `bias` are buffers: state_dict() has them under these names, and they keep their
    types when the model is given another one, as by `model.half()`. Gradients raise RuntimeError.
    """

    def __init__(self, weight, bias=None, activations=None, accumulate=None, rebase=False, input_scale=None):
        super().__init__()
        check_accumulate(accumulate, rebase)
        if not isinstance(weight, QuantizedTensor):
            fail(TypeError, "weight", "a QuantizedTensor", type(weight).__name__)
        check_tensors(("bias", "input_scale"), bias=bias, input_scale=input_scale)
        if len(weight.shape) != 2:
            fail(ValueError, "weight", "2 dimensions", f"shape {tuple(weight.shape)}")
        format = formats.get(weight.format, weight.is_sparse)
        check_activations(activations, format, has_static=True)
        check_accumulate(accumulate, rebase, format, activations)
        if activations == STATIC and input_scale is not None:
            input_scale = factor_of_x("input_scale", input_scale.detach())
        check_input_scale(input_scale, activations)
        check_devices(weight=weight.codes, input_scale=input_scale)
        self.accumulate, self.rebase = accumulate, rebase
        self.out_features, self.in_features = weight.shape
        self.format, self.activations = weight.format, activations
        if bias is not None:
            bias = bias.detach().to(torch.bfloat16)
            check_bias(bias, self.out_features)
            check_devices(weight=weight.codes, bias=bias)
        tensor_scale = weight.tensor_scale
        if formats.get(weight.format).is_scaled and tensor_scale is None:
            tensor_scale = torch.ones((), dtype=torch.float32, device=weight.device)
        self.register_buffer("codes", weight.codes)
        self.register_buffer("scales", weight.scales)
        self.register_buffer("tensor_scale", tensor_scale)
        self.register_buffer("metadata", weight.metadata)
        self.register_buffer("input_scale", input_scale)
        self._has_legal_metadata = weight.is_sparse
        self.register_buffer("bias", bias)
        # Kernels always add a bias.
        zeros = None if bias is not None else torch.zeros(
            self.out_features, dtype=torch.bfloat16, device=weight.device
        )
        self.register_buffer("_zeros", zeros, persistent=False)

    @classmethod
    def from_linear(cls, linear, format, activations=None, sparse=False, accumulate=None, rebase=False):
        """A `Linear` from a torch.nn.Linear, whose weight is quantised on its device. With `sparse`, all but two of
        four weights, or pairs of them, become 0 first: see QuantizedTensor.from_float.

        Raises ValueError if in_features is no multiple of the format's block, TypeError for DTensors.
        """
        if not isinstance(linear, nn.Linear):
            fail(TypeError, "linear", "a torch.nn.Linear", type(linear).__name__)
        return cls(
            QuantizedTensor.from_float(linear.weight, format, sparse=sparse), linear.bias, activations, accumulate, rebase
        )

    @property
    def quantized_weight(self):
        return QuantizedTensor(self.codes, self.scales, self.format, self.tensor_scale, self.metadata)

    @property
    def is_sparse(self):
        return self.metadata is not None

    def forward(self, x):
        # Each is read once: a module looks attributes up in several places.
        codes, metadata, bias, input_scale = self.codes, self.metadata, self.bias, self.input_scale
        arguments = (x, codes, self.scales, self.tensor_scale, self._zeros if bias is None else bias)
        if not ops.is_plain(x):
            ops.check_untraced(self.format, x=x)
            is_legal = metadata is not None and self._has_legal_metadata
            return torch.ops.blockscale.linear(
                *arguments, self.format, self.activations, metadata, is_legal, self.accumulate, self.rebase,
                input_scale,
            )
        check_x(x, self.in_features, codes=codes)
        if metadata is not None and not self._has_legal_metadata:
            metadata = self._make_legal()
        format = (formats.FORMATS if metadata is None else formats.SPARSE_FORMATS)[self.format]
        return ops.run_checked_linear(
            *arguments, format, self.activations, metadata, self.accumulate, self.rebase, input_scale
        )

    def _load_from_state_dict(self, state_dict, prefix, *others):
        """Kernels rely on legal metadata, and what is loaded need not come from a QuantizedTensor."""
        super()._load_from_state_dict(state_dict, prefix, *others)
        loaded = [name for name in ("codes", "metadata") if prefix + name in state_dict]
        if not self.is_sparse or not loaded:
            return
        self._has_legal_metadata = False
        # If only one of them has come, as from a part of a checkpoint, the next call looks at both.
        if len(loaded) == 2 and not (self.codes.is_meta or self.metadata.is_meta):
            try:
                self._make_legal(in_place=self.metadata is not state_dict[prefix + "metadata"])
            except (TypeError, ValueError) as error:
                errors = others[-1]
                errors.append(f"{prefix}{error}")

    def _make_legal(self, in_place=False):
        """Checks the metadata, which gets 0100 for 0000, and returns it. In place: a captured graph has its memory."""
        format = formats.get(self.format, True)
        check_quantized("the weight", self.codes, self.scales, format, metadata=self.metadata)
        legal = legal_metadata(self.codes, self.metadata, format)
        if in_place and legal is not self.metadata:
            self.metadata.copy_(legal)
        else:
            self.metadata = legal
        self._has_legal_metadata = True
        return self.metadata

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}, "
            f"format={self.format!r}, activations={self.activations!r}" + ", sparse=True" * self.is_sparse
            + (f", accumulate={self.accumulate}" if self.accumulate is not None else "") + ", rebase=True" * self.rebase
        )


def _is_fp8_linear(module):
    """Whether it is the FP8Linear of transformers, which need not be installed."""
    return type(module).__name__ == FP8_LINEAR


def _reason_to_keep_fp8(module, format, activations):
    """The same as `_reason_to_keep` for a FP8Linear."""
    own = "fp8_row" if module.block_size is None else "fp8_block"
    if format != own:
        return f"a {FP8_LINEAR}, whose weight is quantized already, for {own}"
    if module.activation_scheme != activations:
        return f"a {FP8_LINEAR} with activation_scheme {module.activation_scheme!r}, which is not {activations!r}"
    try:
        _weight_of_fp8(module)
        _input_scale_of_fp8(module)
    except (TypeError, ValueError) as error:
        return f"a {FP8_LINEAR} with {error}"
    return None


def _weight_of_fp8(module):
    """Its QuantizedTensor, of one scale without block_size."""
    weight, scales = module.weight.detach(), module.weight_scale_inv
    check_tensors(weight_scale_inv=scales)
    if module.block_size is None:
        return weight_of_one_factor("weight_scale_inv", weight, scales.detach())
    return load_fp8_block_deepseek(weight, scales.detach(), module.block_size)


def _input_scale_of_fp8(module):
    """The scale of x, in a layer that has it before x."""
    if module.activation_scheme != STATIC:
        return None
    scale = getattr(module, "activation_scale", None)
    check_tensors(activation_scale=scale)
    check_devices(weight=module.weight, activation_scale=scale)
    return factor_of_x("activation_scale", scale.detach())


def _reason_to_keep(module, format, sparse, activations):
    """Why a linear layer cannot be converted; None if it can."""
    if _is_fp8_linear(module):
        return _reason_to_keep_fp8(module, None if sparse else format, activations)
    if activations == STATIC:
        return f"a {type(module).__name__}, which has no scale for activations='static'"
    if type(module) is not nn.Linear:
        # A subclass may use its weight in another way, as in nn.MultiheadAttention.
        return f"a {type(module).__name__}, which is no torch.nn.Linear itself"
    block = formats.get(format, sparse).block
    if module.in_features == 0 or module.in_features % block:
        return f"in_features {module.in_features}, which is no multiple of {block}"
    if module.out_features == 0:
        return "out_features 0"
    return None


def convert_linear_(
    model, format, activations=None, filter=None, unsupported="raise", sparse=False, accumulate=OWN, rebase=False
):
    """Replaces each torch.nn.Linear of a model by a `Linear` of `format`, in place.

    format       "mxfp8", "mxfp4", "nvfp4", "fp8_block" or "fp8_row"
    activations  as for Linear
    filter       called with the name and the module of each layer; layers are kept if it returns false. The default
                 converts all
    unsupported  what to do with layers that cannot be converted (in_features no multiple of the block, subclasses of
                 nn.Linear): "raise", the default, raises ValueError before anything is changed; "keep" keeps them, with
                 a warning
    sparse       whether weights become 2:4 sparse, as by Linear.from_linear
    accumulate   None or 128, as for Linear. "own", the default, is 128 for FP8Linear layers, whose kernels add up 128
                 products at a time in fp8 tensor cores, and None for others
    rebase       True or False, as for Linear

    The FP8Linear layers of transformers, which are quantized already, become those of "fp8_block" if they have blocks of
    128 x 128, and of "fp8_row" if they have one scale: their weights stay what they are. `activations` must be their
    activation_scheme, "dynamic" or "static", which other layers cannot have.

    Returns a Conversion, with the names of the converted layers, and the reason for each kept one. A layer that a model
    has under several names stays shared.
    """
    check_flag("sparse", sparse)
    check_activations(activations, formats.get(format, sparse), has_static=True)
    licence = None if accumulate == OWN else accumulate
    check_accumulate(licence, rebase, formats.get(format, sparse), activations)
    if isinstance(model, nn.Linear):
        fail(ValueError, "model", "a module that has linear layers", "one itself: use Linear.from_linear")

    def convert(module):
        if _is_fp8_linear(module):
            own = CHUNK if accumulate == OWN else accumulate
            return Linear(_weight_of_fp8(module), module.bias, activations, own, False, _input_scale_of_fp8(module))
        return Linear.from_linear(module, format, activations, sparse, licence, rebase)

    def find_reason(name, module):
        reason = _reason_to_keep(module, format, sparse, activations)
        if not reason:
            check_tensors((f"{name}.bias",), **{f"{name}.weight": module.weight, f"{name}.bias": module.bias})
        return reason

    return convert_modules(
        model, format, "linear layers", lambda module: isinstance(module, nn.Linear) or _is_fp8_linear(module), find_reason,
        convert, filter, unsupported,
    )
