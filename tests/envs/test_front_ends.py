# SPDX-License-Identifier: GPL-2.0-or-later
"""Every front end: infos are plain dicts, wrong actions are named and may be given again."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import ns3_env  # noqa: F401 (registers the environments)
from ns3_env.decision.actions import AbsoluteWindow
from ns3_env.decision.observations import INDEX, telemetry_names
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import FlowEnv, incast_scenario
from ns3_env.envs.gym_vector_env import FlowVectorEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.ids import id_of
from ns3_env.scenario import Synchronous

ID = "ns3_env/RdmaIncast-v1"


_SCENARIO = incast_scenario(3, size_bytes=100_000, spread_ns=1).model_copy(update={"clock": Synchronous()})
_WRONG: dict[str, tuple[Any, str]] = {
    "NaN": (np.nan, "is NaN: the policy gave no number"),
    "infinite": (-np.inf, "is infinite: the policy gave no number"),
    "pair": ([0.0, 1.0], r"is no array of numbers of the shape \(1,\), but of the shape \(2,\)"),
    "nothing": (None, "is NaN: the policy gave no number"),
    "text": ("up", r"is no array of numbers of the shape \(1,\), but 'up'"),
}


def _rows(wrong: Any) -> list[Any]:
    """Three actions, the last of which is wrong."""
    return [[0.0], [0.0], [wrong] if isinstance(wrong, float) else wrong]


def _agents(wrong: Any) -> dict[str, Any]:
    return dict(zip(("flow_0", "flow_1", "flow_2"), _rows(wrong), strict=True))


def _stream() -> Any:
    env = FlowStream(_SCENARIO, slots=3)
    env.start()
    while len(env.recv(wait_all=True).slots) < 3:
        env.start()
    return env


def _multi_agent() -> Any:
    pytest.importorskip("ray")
    from ns3_env.envs.rllib_env import FlowMultiAgentEnv

    return FlowMultiAgentEnv({"scenario": _SCENARIO})


def _begun(env: Any) -> Any:
    env.reset(seed=1)
    return env


def _vec() -> Any:
    env = FlowVecEnv(_SCENARIO, slots=3)
    env.mask.acknowledge()
    env.reset()
    return env


Begin, Give = Callable[[], Any], Callable[[Any, Any], object]
_FRONT_ENDS: dict[str, tuple[str, Begin, Give]] = {
    "flow": (r"flows \[0\]", lambda: _begun(FlowEnv()), lambda e, x: e.step(_rows(x)[2])),
    "tcp": (
        r"flows \[0\]",
        lambda: _begun(gym.make("ns3_env/TcpBottleneck-v0")),
        lambda e, x: e.step(_rows(x)[2]),
    ),
    "others": (
        r"environments \[2\]",
        lambda: _begun(FlowVectorEnv(3, autoreset_mode="NextStep")),
        lambda e, x: e.step(_rows(x)),
    ),
    "make_vec": (
        r"environments \[2\]",
        lambda: _begun(gym.make_vec("ns3_env/RdmaIncast-v1", num_envs=3)),
        lambda e, x: e.step(_rows(x)),
    ),
    "stream": (r"slots \[2\]", _stream, lambda e, x: e.send(_rows(x), [0, 1, 2])),
    "sb3": (r"slots \[2\]", _vec, lambda e, x: e.step(_rows(x))),
    "pettingzoo": (
        r"agents \['flow_2'\]",
        lambda: _begun(FlowParallelEnv(_SCENARIO)),
        lambda e, x: e.step(_agents(x)),
    ),
    "rllib": (r"agents \['flow_2'\]", lambda: _begun(_multi_agent()), lambda e, x: e.step(_agents(x))),
}


def same(one: Any, other: Any) -> bool:
    """Equal to the last bit, in type and in content."""
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(same(one[k], other[k]) for k in one)
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return other.dtype == object and same(one.tolist(), other.tolist())
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return type(one) is type(other) and one == other


def _not_plain(content: Any) -> str | None:
    """The first type that serialisers written in C do not read as its base type."""
    if type(content) not in (dict, list, np.ndarray, str, bool, int, float, np.float32, np.float64):
        return str(type(content))
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return next((fault for part in parts if (fault := _not_plain(part))), None)


def _infos(front: str) -> list[Any]:
    """Infos of a reset and of steps through an episode's end."""
    _, begin, give = _FRONT_ENDS[front]
    env = begin()
    infos = [env.reset_infos if front == "sb3" else env.reset(seed=3)[1]]
    for _ in range(60):
        agents = getattr(env, "agents", None)
        step = give(env, 0.0) if agents is None else env.step({agent: [0.0] for agent in agents})
        infos.append(step[-1])
        if (front == "flow" and (step[2] or step[3])) or (agents and not env.agents):
            infos.append(env.reset()[1])
    env.close()
    return infos


@pytest.mark.parametrize("front", ["flow", "make_vec", "sb3", "pettingzoo", "rllib"])
def test_infos_are_plain_dicts_whose_telemetry_has_every_field(front: str) -> None:
    infos = _infos(front)
    assert _not_plain(infos) is None
    assert "'slowdown'" in str(infos), "an episode has ended"
    telemetry = _telemetry(infos)
    assert set(telemetry_names(ports=False)) in [
        {name for name in one if not name.startswith("_")} for one in telemetry
    ]
    if front == "flow":
        record = infos[0]["record"]
        assert telemetry[0] == {name: record[INDEX[name]] for name in telemetry[0]}


def test_a_vec_env_leaves_telemetry_out_on_request() -> None:
    with FlowVecEnv(_SCENARIO, slots=3, seed=3, telemetry=False) as env:
        env.mask.acknowledge()
        env.reset()
        steps = [env.step(np.zeros((3, 1)))[-1] for _ in range(40)]
    assert not _telemetry(steps)
    assert any(info.get("flow") == 2 and info["elapsed"] > 0 for infos in steps for info in infos)


def _telemetry(content: Any) -> list[dict[str, Any]]:
    """Every dict below a key "telemetry"."""
    if isinstance(content, list):
        return [telemetry for part in content for telemetry in _telemetry(part)]
    if not isinstance(content, dict):
        return []
    below = [
        telemetry for key, part in content.items() if key != "telemetry" for telemetry in _telemetry(part)
    ]
    return below + ([content["telemetry"]] if "telemetry" in content else [])


_VECTORS = {
    "incast": (ID, {"flows": 3}, AutoresetMode.SAME_STEP, 2),
    "incast, next step": (ID, {"flows": 3}, AutoresetMode.NEXT_STEP, 2),
    "incast, disabled": (ID, {"flows": 3}, AutoresetMode.DISABLED, 2),
    "another flow each time": (ID, {"flow": None}, AutoresetMode.SAME_STEP, 1),
    "tcp": ("ns3_env/TcpBottleneck-v0", {"flows": 3}, AutoresetMode.SAME_STEP, 0),
    "drawn networks": (id_of("Mixed"), {}, AutoresetMode.SAME_STEP, 2),
    "drawn networks of tcp": (id_of("Tcp"), {}, AutoresetMode.NEXT_STEP, 1),
    "a reward in Python": (ID, {"reward": "proportional"}, AutoresetMode.NEXT_STEP, 1),
}


@pytest.mark.parametrize("case", _VECTORS)
def test_make_vec_is_its_single_environments_row_by_row_with_infos_joined_as_gymnasium_does(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, arguments, mode, least_ends = _VECTORS[case]
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1})
    vector: Any = gym.make_vec(name, num_envs=5, autoreset_mode=mode, **arguments)
    singles = [gym.make(name, **arguments) for _ in range(5)]
    joined = partial(SyncVectorEnv._add_info, vector)
    observations = vector.reset(seed=5)[0]
    alone = [env.reset(seed=5 + i)[0] for i, env in enumerate(singles)]
    assert len({env._simulator.pid for env in vector.envs}) == 2
    vector.action_space.seed(5)
    over, ends = np.zeros(5, dtype=np.bool_), 0
    for _ in range(120):
        if mode is AutoresetMode.DISABLED and over.any():
            observations = vector.reset(options={"reset_mask": over})[0]
            alone = [env.reset()[0] if over[i] else alone[i] for i, env in enumerate(singles)]
            over[:] = False
        assert np.array_equal(observations, np.stack(alone))
        actions = vector.action_space.sample()
        observations, rewards, terminated, truncated, infos = vector.step(actions)
        expected: dict[str, Any] = {}
        for i, env in enumerate(singles):
            if over[i]:
                (alone[i], info), reward, ended = env.reset(), 0.0, [False, False]
            else:
                alone[i], reward, *ended, info = env.step(actions[i])  # type: ignore[assignment]
            assert (reward, ended) == (rewards[i], [terminated[i], truncated[i]])
            if any(ended) and mode is AutoresetMode.SAME_STEP:
                expected = joined(expected, {"final_obs": alone[i], "final_info": info}, i)
                alone[i], info = env.reset()
            expected = joined(expected, info, i)
        assert same(infos, expected)
        ends += int((terminated | truncated).sum())
        over = (terminated | truncated) & (mode is not AutoresetMode.SAME_STEP)
    assert ends >= least_ends
    vector.close()
    for env in singles:
        env.close()


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_vectors_episodes_are_truncated_at_its_step_limit(mode: AutoresetMode) -> None:
    vector: Any = gym.make_vec(ID, num_envs=2, flows=3, max_episode_steps=4, autoreset_mode=mode)
    vector.reset(seed=5)
    cuts = []
    for _ in range(12):
        *_, truncated, _ = vector.step(np.zeros((2, 1), dtype=np.float32))
        cuts.append(bool(truncated.all()))
        if mode is AutoresetMode.DISABLED and truncated.any():
            vector.reset(options={"reset_mask": truncated})
    vector.close()
    period = 5 if mode is AutoresetMode.NEXT_STEP else 4
    assert cuts == [step % period == 3 for step in range(12)]


@pytest.mark.parametrize("wrong", _WRONG)
@pytest.mark.parametrize("front", _FRONT_ENDS)
def test_a_wrong_action_is_named_and_may_be_given_again(front: str, wrong: str) -> None:
    who, begin, give = _FRONT_ENDS[front]
    action, what = _WRONG[wrong]
    env = begin()
    with pytest.raises(ValueError, match=rf"^the action of {who} {what}.*nothing was sent$"):
        give(env, action)
    give(env, 7.0)  # outside the box: cut to it
    env.close()


@pytest.mark.parametrize(
    "make", [lambda: FlowParallelEnv(_SCENARIO), _multi_agent], ids=["pettingzoo", "rllib"]
)
def test_missing_agents_and_strangers_are_named(make: Callable[[], Any]) -> None:
    env = _begun(make())
    actions = _agents(0.0)
    with pytest.raises(ValueError, match=r"agents \['flow_1', 'flow_2'\] is missing: they decide now"):
        env.step({"flow_0": actions["flow_0"]})
    with pytest.raises(
        ValueError, match=r"agents \['flow_9'\] is nobody's: those that live are \['flow_[012]'"
    ):
        env.step({**actions, "flow_9": [0.0]})
    env.step(actions)
    env.close()


def test_too_few_actions_and_windows_below_0_are_told_too() -> None:
    env = _begun(FlowVectorEnv(3, flows=2, action=AbsoluteWindow()))
    with pytest.raises(ValueError, match=r"actions of 3 environments have the shape \(3, 1\), not \(2, 1\)"):
        env.step(np.zeros((2, 1)))
    with pytest.raises(ValueError, match=r"the action of environments \[1\] is below 0, the least"):
        env.step([[1e4], [-1.0], [1e4]])
    env.step([[1e4], [np.inf], [1e4]])  # no window
    env.close()
