# SPDX-License-Identifier: GPL-2.0-or-later
"""Extras that bring missing packages, and what to type to install them."""

from __future__ import annotations

#: Extras of pyproject.toml, by the packages that they bring.
EXTRAS = {
    **dict.fromkeys(("torch", "stable_baselines3", "tensorboard", "tqdm", "cma"), "train"),
    **dict.fromkeys(("matplotlib", "jinja2", "scipy", "pandas", "pyarrow"), "report"),
    **dict.fromkeys(("onnx", "onnxruntime"), "onnx"),
    "sb3_contrib": "contrib",
    "google": "ns3ai",
    **dict.fromkeys(("ray", "lz4", "ormsgpack", "tensorboardX"), "ray"),
}

#: Distributions that bring a package of another name.
DISTRIBUTIONS = {"google": "protobuf"}


def install(extra: str) -> str:
    """What to type for an extra."""
    return f"pip install 'ns3-env[{extra}]'"


def missing(error: ModuleNotFoundError) -> str | None:
    """What to say of a package that is missing; None where it is none of an extra's."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    return f"this needs {DISTRIBUTIONS.get(package, package)}: {install(EXTRAS[package])}"
