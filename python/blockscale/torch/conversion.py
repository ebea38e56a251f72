"""Replacing modules of a model."""

import warnings
from collections import Counter
from typing import Dict, List, NamedTuple

from torch import nn

from .checks import fail

# Of a conversion: the licence that modules have by themselves.
OWN = "own"


class Conversion(NamedTuple):
    """The result of a conversion: the names of the converted modules, and the reason for each other one."""

    converted: List[str]
    kept: Dict[str, str]


class KeptTypes(nn.Module):
    """A module whose buffers keep their types when the model is given another one, as by `model.half()`."""

    def _apply(self, fn, recurse=True):
        """Moves buffers, but keeps their types."""
        before = {name: buffer for name, buffer in self._buffers.items() if buffer is not None}
        super()._apply(fn, recurse)
        for name, old in before.items():
            new = self._buffers[name]
            if new.dtype != old.dtype:
                self._buffers[name] = old.to(new.device)
        return self


def _has_hooks(module):
    """Whether somebody relies on the calls of a module, such as tensor parallelism or offloading."""
    return any(getattr(module, name, None) for name in ("_forward_hooks", "_forward_pre_hooks", "_hf_hook"))


def convert_modules(model, format, what, is_kind, find_reason, convert, filter, unsupported):
    """Replaces modules of a model, in place, and returns a Conversion.

    is_kind      whether a module is one to convert
    find_reason  why a module of that kind cannot be converted; None if it can. Called with its name and itself
    convert      the new module for an old one
    what         what such modules are, for messages
    format, filter, unsupported
                 as of `convert_linear_`
    """
    if unsupported not in ("raise", "keep"):
        fail(ValueError, "unsupported", "'raise' or 'keep'", repr(unsupported))
    if not isinstance(model, nn.Module):
        fail(TypeError, "model", "a torch.nn.Module", type(model).__name__)
    chosen, kept, unfit = [], {}, {}
    for name, module in model.named_modules(remove_duplicate=False):
        if not is_kind(module):
            continue
        if filter is not None and not filter(name, module):
            kept[name] = "filter"
            continue
        reason = "hooks, which the new module would not have" if _has_hooks(module) else find_reason(name, module)
        if reason:
            unfit[name] = reason
        else:
            chosen.append((name, module))
    if unfit:
        listed = "; ".join(f"{name}: {reason}" for name, reason in unfit.items())
        if unsupported == "raise":
            raise ValueError(f"expected {what} that {format} can have, or unsupported='keep', got {listed}")
        warnings.warn(f"not converted to {format}: {listed}", stacklevel=3)
    names = [name for name, _ in chosen]
    uses = Counter(module for _, module in chosen)
    made = {}
    while chosen:
        # No reference to a replaced module stays here, so that its memory is free for the next ones.
        name, module = chosen.pop(0)
        new = made.get(module)
        if new is None:
            new = convert(module).train(module.training)
            if uses[module] > 1:
                made[module] = new
        uses[module] -= 1
        if not uses[module]:
            del uses[module]
            made.pop(module, None)
        parent, _, own = name.rpartition(".")
        setattr(model.get_submodule(parent), own, new)
    return Conversion(names, {**kept, **unfit})
