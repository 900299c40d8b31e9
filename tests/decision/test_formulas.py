# SPDX-License-Identifier: GPL-2.0-or-later
"""Formulas over observed fields: values, faults, and the telemetry that follows from their fields."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ns3_env
from ns3_env.config.model import validate
from ns3_env.decision.observations import FIELDS, INDEX, agent_flags, columns, declared, wire_bytes
from ns3_env.decision.task import Task, unknown_fields
from ns3_env.envs.background_policy import BackgroundPolicy
from ns3_env.errors import ConfigError
from ns3_env.policies.file import policy_bytes, write_policy
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.native_policy import NetworkPolicy
from tests.samples.policy_files import tiny

Floats = NDArray[np.float64]


def records(rows: int = 200) -> Floats:
    """Telemetry with zeros, and with values beyond the fields' ranges."""
    random = np.random.default_rng(1)
    values = 10 ** random.uniform(-4, 6, (rows, len(FIELDS))) * random.choice([-1, 0, 1], (rows, len(FIELDS)))
    return np.asarray(values, dtype=np.float64)


INCAST = {
    "topology": {"kind": "dumbbell", "senders": 4},
    "traffic": {"kind": "incast", "size_bytes": 300_000},
}
VALUES: dict[str, Callable[..., Any]] = {
    "q = rtt - 1": lambda rtt: rtt - 1,
    "q = 2 - 3 - 4 * rtt / 8 / 2": lambda rtt: -1 - rtt / 4,
    "q = -(rtt + -1.5e0) * .5": lambda rtt: -(rtt - 1.5) / 2,
    "q=min( qlen , rtt_slope )": lambda qlen, slope: np.minimum(qlen, slope),
    "q = max(abs(rtt_slope), exp(log(1 + rtt)))": lambda slope, rtt: np.maximum(np.abs(slope), 1 + rtt),
    "q = qlen / goodput": lambda qlen, goodput: np.where(goodput == 0, 0, qlen / np.maximum(goodput, 1e-30)),
    "q = log(qlen)": lambda qlen: np.log(np.maximum(qlen, 2.0**-16)),
    "q = exp(rtt) * exp(rtt)": lambda rtt: np.exp(np.minimum(2 * rtt, 100)),
    "q = rtt * rtt * rtt * rtt * rtt * rtt - 1": lambda rtt: np.minimum(rtt, 1e3) ** 6 - 1,
}


@pytest.mark.parametrize("text", VALUES)
def test_a_formula_s_value_is_its_arithmetic_of_clipped_fields_and_finite(text: str) -> None:
    rows, task = records(), Task(["goodput", text])
    clipped = Task(declared([text])).observe(rows).astype(np.float64)
    expected = np.clip(VALUES[text](*clipped.T), -1e6, 1e6)
    observations = task.observe(rows)
    assert np.isfinite(observations).all()
    assert task.observation_space.contains(observations[0])
    np.testing.assert_allclose(observations[:, 1], expected, rtol=1e-6)


FAULTS = {
    "q = ": "character 5: expected a number, a field, a function or '(', found the end",
    "q = rtt +* 2": "character 10: expected a number, a field, a function or '(', found '*'",
    "= rtt": "character 1: expected a name and '=', as in 'queueing = rtt - 1', found '='",
    "rtt = qlen": "character 1: 'rtt' is a declared field's name: choose another",
    "q = rt - 1": "character 5: there is no observation field 'rt'; the nearest known one is 'rtt'",
    "q = sqrt(rtt)": "character 5: there is no function 'sqrt': there are min, max, abs, log and exp",
    "q = min(rtt)": "character 12: expected ',' between the two numbers of min(a, b), found ')'",
    "q = log(rtt": "character 12: expected ')' of log(a), found the end",
    "q = (rtt": "character 9: expected ')', found the end",
    "q = rtt rtt": "character 9: expected +, -, *, / or the end, found 'r'",
    "q = rtt ^ 2": "character 9: expected +, -, *, / or the end, found '^'",
    "q = 1 + 2": "character 10: no field is read: a formula reads at least one",
    "q = rtt + 1e99": "character 11: expected a number up to 1e15, such as 2, 0.5 or 1e-3",
    "q = rtt" + " + rtt" * 40: "character 201: a formula has no more characters",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_wrong_formula_is_refused_in_one_sentence_everywhere(text: str) -> None:
    with pytest.raises(ValueError, match="formula '") as refused:
        Task([text])
    assert str(refused.value).endswith(FAULTS[text])
    content = tiny().spec.model_dump(mode="json") | {"observation": [{"field": text}]}
    with pytest.raises(ConfigError) as invalid:
        validate(content, PolicySpec, "x")
    assert FAULTS[text] in str(invalid.value)
    assert "\n" not in str(invalid.value)


def test_telemetry_follows_from_the_fields_that_a_formula_reads() -> None:
    fields = ["q = min(shorter_backlog, rtt) + rtt", "rtt", "goodput"]
    assert declared(fields) == ("shorter_backlog", "rtt", "goodput")
    assert wire_bytes(fields) == wire_bytes(["shorter_backlog", "rtt"])
    assert agent_flags(fields) == {"ShorterBacklog": True}
    assert unknown_fields("tcp", ["q = rtt / 2"]) is None
    assert "'shorter_backlog': telemetry of switches" in (unknown_fields("tcp", fields) or "")
    spec = tiny(observation=[{"field": field} for field in fields]).spec
    assert (spec.fields, spec.observed) == (declared(fields), tuple(fields))
    assert spec.agent_attributes == {"ShorterBacklog": True}


def test_simulator_and_file_calculate_what_environments_observe(tmp_path: Path) -> None:
    fields = ["excess = max(rtt - 1, 0) / (1 + qlen)", "qlen", "late = log(rtt) * goodput"]
    policy = tiny(observation=[{"field": field} for field in fields])
    tensors = [policy.tensors[name] for name in ("layers.0.weight", "layers.0.bias", "layers.1.weight")]
    with ns3_env.Rollouts(INCAST, task=Task(fields), seed=1) as rollouts:
        rollouts.begin(policy_bytes(policy))
        episode = rollouts.next()
    values = episode.observations[episode.decided]
    answers = np.tanh(np.maximum(values @ tensors[0].T + tensors[1], 0) @ tensors[2].T)
    assert values.std(axis=0).min() > 0.01
    np.testing.assert_allclose(episode.actions[episode.decided][:, None], answers, atol=1e-5)
    write_policy(tmp_path / "own", policy)
    file = NetworkPolicy.load(tmp_path / "own")
    raw = columns(episode.records[episode.decided], file.fields).astype(np.float32)
    np.testing.assert_allclose(file.predict(raw)[0], answers, atol=1e-5)


class Formulaic:
    """A policy in Python that observes a formula."""

    fields = ("queueing = rtt - 1",)
    action_map = "multiplicative_window"

    def predict(self, observation: Any, state: Any = None, *more: Any, **options: Any) -> Any:
        return np.clip(0.2 - observation, -1, 1), state


def test_a_policy_in_python_observes_a_formula_for_other_flows() -> None:
    rows = np.ones((3, len(FIELDS)))
    rows[:, INDEX["rtt"]] = 1, 1.2, 3
    rows[:, INDEX["window_bytes"]], rows[:, INDEX["bdp_bytes"]] = 5e4, 1e5
    windows = BackgroundPolicy(Formulaic()).actions(rows, np.arange(3))[:, 0]
    assert windows[0] > windows[1] > windows[2]
