"""The embedding model of `orgkernel[meaning]`: the averaged word vectors that the package `wordllama` contains.

The two data files of the package are read directly. Importing the package would take longer than all answers together,
and its loader can use the network; this reader cannot. `ORGKERNEL_MEANING=off` switches the model off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_NEEDED = ("wordllama", "tokenizers", "numpy")
_NEAREST = 3
SWITCH = "ORGKERNEL_MEANING"


class WordVectors:
    """Turns a text into the average of the vectors of its words. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        import numpy
        from tokenizers import Tokenizer

        self._numpy = numpy
        self._tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._weights = _map_weights(folder / _WEIGHTS)

    def embed(self, texts: Sequence[str]) -> Any:
        """One vector of length one for each text; zeros for a text without words."""
        numpy = self._numpy
        vectors = numpy.zeros((len(texts), self._weights.shape[1]), dtype=numpy.float32)
        for row, encoding in enumerate(self._tokenizer.encode_batch(list(texts), add_special_tokens=False)):
            if encoding.ids:
                vectors[row] = self._weights[encoding.ids].mean(axis=0, dtype=numpy.float32)
        lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / numpy.maximum(lengths, 1e-9)

    def build_table(self, texts: Sequence[str], sizes: Sequence[int]) -> Any:
        """The first vectors of all groups, the other vectors, and the rows of these for each group, padded."""
        numpy = self._numpy
        starts = numpy.cumsum([0, *sizes[:-1]])
        most = max(max(sizes, default=1) - 1, _NEAREST)
        rows = numpy.full((len(sizes), most), len(texts), dtype=numpy.int32)
        for group, (start, size) in enumerate(zip(starts.tolist(), sizes, strict=True)):
            own = range(start + 1, start + size) if size > 1 else range(start, start + 1)
            rows[group, : len(own)] = own
        return (
            self.embed(texts),
            starts,
            rows,
            numpy.minimum(numpy.maximum(numpy.array(sizes) - 1, 1), _NEAREST),
        )

    def compare(self, text: str, table: Any) -> list[float]:
        """See `orgkernel.decisions.dispatch.embedding.compare_groups`, whose values these are."""
        numpy = self._numpy
        vectors, starts, rows, counts = table
        # Not `@`: the threads of BLAS cost more than they save here, above all on a busy machine.
        cosines = numpy.append(numpy.einsum("ij,j->i", vectors, self.embed([text])[0]), -2.0)
        nearest = -numpy.partition(-cosines[rows], _NEAREST - 1, axis=1)[:, :_NEAREST]
        nearest = numpy.where(nearest < -1.5, 0.0, nearest).sum(axis=1) / counts
        near: list[float] = ((cosines[starts] + nearest) / 2).tolist()
        return near


def _map_weights(path: Path) -> Any:
    """The matrix of a safetensors file with one tensor of half-precision numbers, mapped and not copied."""
    import numpy

    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    (tensor,) = (each for name, each in header.items() if name != "__metadata__")
    if tensor["dtype"] != "F16":
        raise ValueError(f"{path.name} has numbers of type {tensor['dtype']}, not F16")
    offset = 8 + size + tensor["data_offsets"][0]
    return numpy.memmap(path, dtype=numpy.float16, mode="r", offset=offset, shape=tuple(tensor["shape"]))


@cache
def find_word_vectors() -> WordVectors | None:
    """The installed model. None without `orgkernel[meaning]`, if it is switched off, or if its files are not as expected:
    then words alone decide.
    """
    if os.environ.get(SWITCH, "").strip().lower() == "off":
        return None
    specs = [find_spec(name) for name in _NEEDED]
    origin = specs[0].origin if specs[0] is not None else None
    if origin is None or None in specs:
        return None
    try:
        return WordVectors(Path(origin).parent)
    except (OSError, ValueError, KeyError, ImportError):
        return None
