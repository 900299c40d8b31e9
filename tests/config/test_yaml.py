# SPDX-License-Identifier: GPL-2.0-or-later
"""YAML is written as PyYAML writes it, with LibYAML or without."""

from __future__ import annotations

import pytest
import yaml

from ns3_env.config.yaml import parse, to_text
from ns3_env.eval.benchmark.suite import Suite, known_suites


@pytest.mark.parametrize(
    "text", ["", "8-to-1 within 100 µs: 'all'", "a\\b", "bell \a " * 20, "two\nlines", "😀 " * 40, "- x: 1"]
)
def test_odd_text(text: str) -> None:
    content = {"b": text, "a": [1.5e300, None, True, {"n": text}]}
    assert to_text(content) == yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def test_a_suite() -> None:
    content = Suite.load(known_suites()[0]).model_dump(mode="json")
    assert to_text(content) == yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def test_merge_keys_have_a_bound() -> None:
    levels = ["a0: &a0 {k0: 1}"]
    levels += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 8)}]}}" for i in range(1, 9)]
    with pytest.raises(yaml.YAMLError, match=r"merge keys \(<<\) bring in more than 100000 keys"):
        parse("\n".join(levels))
