# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that ``ns3_env`` gives by itself, and those of 0.1."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import ns3_env
from ns3_env.envs import RENAMED


@pytest.mark.parametrize("name", [*ns3_env.__all__, "__version__"])
def test_public_names_are_there(name: str) -> None:
    assert getattr(ns3_env, name) is not None


def test_names_are_imported_when_they_are_asked_for() -> None:
    script = "import ns3_env, sys; assert not {'torch', 'stable_baselines3', 'pettingzoo'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'ns3_env' has no attribute 'FlowEnw'"):
        ns3_env.FlowEnw  # noqa: B018


@pytest.mark.parametrize(
    ("name", "old"),
    list(
        zip(("gym_env", "gym_vector_env", "sb3_vec_env", "pettingzoo_env", "rllib_env"), RENAMED, strict=True)
    ),
)
def test_names_of_0_1_are_aliases_with_a_warning(name: str, old: str) -> None:
    if name == "rllib_env":
        pytest.importorskip("ray")
    module = import_module(f"ns3_env.envs.{name}")
    with pytest.warns(DeprecationWarning, match=f"{old} is {RENAMED[old]} now"):
        assert getattr(module, old) is getattr(module, RENAMED[old])


def test_a_released_policy_is_loaded_by_its_name() -> None:
    policy = ns3_env.load_policy("courier")
    assert policy.fields == policy.spec.fields
