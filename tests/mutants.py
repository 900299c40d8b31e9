# SPDX-License-Identifier: GPL-2.0-or-later
"""Which mistakes must the tests see? A mutant is one: a text in a file, what takes its place, who sees it."""

from __future__ import annotations

from typing import NamedTuple

#: The tests' files that must see a mutant of a file, the likeliest first.
SEEN_BY: dict[str, tuple[str, ...]] = {
    "agents/fdcc/td3.py": ("test_td3",),
    "agents/fdcc/algorithm.py": ("test_td3", "test_fdcc"),
    "agents/fdcc/exploration.py": ("test_exploration",),
    "agents/fdcc/replay.py": ("test_fdcc_history", "test_td3", "test_rollouts"),
    "agents/fdcc/history.py": ("test_fdcc_history",),
    "ns3_env/history.py": ("test_fdcc_history",),
    "agents/fdcc/networks.py": ("test_fdcc_networks",),
    "agents/fdcc/policy.py": ("test_fdcc_networks", "test_fdcc"),
    "agents/fdcc/stream.py": ("test_fdcc_networks",),
    "agents/training/curriculum.py": ("test_curriculum",),
    "ns3_env/rewards.py": ("test_rewards_actions",),
    "ns3_env/rollouts.py": ("test_rollouts",),
}


class Mutant(NamedTuple):
    """One mistake; ``old`` stands once in the file, ``name`` says what goes wrong."""

    name: str
    file: str
    old: str
    new: str


def _in(file: str, *mutants: tuple[str, str, str]) -> list[Mutant]:
    return [Mutant(name, file, old, new) for name, old, new in mutants]


MUTANTS: list[Mutant] = [
    *_in(
        "agents/fdcc/td3.py",
        ("greater twin", ".min(dim=1, keepdim=True)", ".max(dim=1, keepdim=True)"),
        ("ends forgotten", "(1 - dones) * discounts", "discounts"),
        ("no discount", "* discounts * values", "* values"),
        ("noise not clipped", " * deviation).clamp(-clip, clip)", " * deviation)"),
        ("no smoothing", "actions + noise).clamp", "actions).clamp"),
        ("noise of deviation 1", "th.randn_like(actions) * deviation", "th.randn_like(actions)"),
        ("smoothed beyond the range", "(actions + noise).clamp(-1, 1)", "actions + noise"),
        ("actor descends", "return -value.mean()", "return value.mean()"),
        ("saturation of the mean", "(raw**2).mean()", "raw.mean() ** 2"),
        ("critics averaged", "for value in values]).sum()", "for value in values]).mean()"),
        ("not compressed", "np.log1p(np.abs(rewards))", "np.abs(rewards)"),
        ("sign lost", "np.sign(rewards) * ", ""),
    ),
    *_in(
        "agents/fdcc/algorithm.py",
        ("targets of the actor", "                self.actor_target,\n", "                self.actor,\n"),
        ("targets of the critics", "                self.critic_target,\n", "                self.critic,\n"),
        ("actor not delayed", "self._n_updates % self.policy_delay == 0", "True"),
        ("critics' targets stand", "polyak_update(self.critic.parameters(), ", "polyak_update(iter(()), "),
        ("actor's target stands", "polyak_update(self.actor.parameters(), ", "polyak_update(iter(()), "),
        ("no penalty", "self.config.saturation_penalty * td3", "0.0 * td3"),
        ("second critic climbed", "self.critic.q1_forward(history, th.tanh(raw))", "self.critic(history, th.tanh(raw))[1]"),
        ("untransformed action climbed", "th.tanh(raw)", "raw"),
        ("never compressed", "td3.compress(rewards) if self.config.compress_rewards else rewards", "rewards"),
        ("compressed returns logged", "] += rewards[went_on]", "] += learned[went_on]"),
        ("no random beginning", "self.num_timesteps < learning_starts", "False"),
        ("batches counted", "self.num_timesteps += len(due)", "self.num_timesteps += 1"),
        ("last action read twice", '"last_action" not in self.field_names', "True"),
        ("histories of other slots", "histories.windows[slots]", "histories.windows[slots - 1]"),
        ("lengths of other slots", "histories.lengths[slots]", "histories.lengths[slots - 1]"),
        ("lengths go on", "self._episode_lengths[slot] = 0.0, 0", "self._episode_lengths[slot] = 0.0, 1"),
    ),
    *_in(
        "agents/fdcc/exploration.py",
        ("share turned around", "drawn < self.random_share", "drawn > self.random_share"),
        ("held half as long", "np.random.geometric(1 / MEAN_HOLD)", "np.random.geometric(2 / MEAN_HOLD)"),
        ("held always as long", "np.random.geometric(1 / MEAN_HOLD)", "int(MEAN_HOLD)"),
        ("hold of five", "MEAN_HOLD = 4.0", "MEAN_HOLD = 5.0"),
        ("held for ever", "self._hold_for[slot] -= 1", "self._hold_for[slot] -= 0"),
        ("one hold for all", "self._held[slot] = 2.0", "self._held[:] = 2.0"),
        ("half of the range", "(high - low)) - 1.0", "(high - low))"),
        ("noise beyond the range", "np.clip(actions + noise.astype(np.float32), -1.0, 1.0)", "actions + noise.astype(np.float32)"),
        ("no noise", "if self.noise == 0:", "if True:"),
        ("never all random", "self.at_random[slots] | all_random", "self.at_random[slots]"),
        ("all drawn at once", "self.at_random[slots] = drawn", "self.at_random[:] = drawn[0]"),
    ),
    *_in(
        "agents/fdcc/replay.py",
        ("undiscounted return", "self.gamma**decision.steps * float(reward)", "float(reward)"),
        ("last reward only", "decision.reward += self", "decision.reward = self"),
        ("steps not counted", "decision.steps += 1", "decision.steps += 2"),
        ("cuts go on", "if end or cut:", "if end:"),
        ("cuts terminate", "terminated=bool(end)", "terminated=True"),
        ("always one step", "pending[0].steps == self.n_steps", "pending[0].steps == 1"),
        ("discount of one step", "self.discounts[at] = self.gamma**decision.steps", "self.discounts[at] = self.gamma"),
        ("ends not stored", "self.dones[at] = done", "self.dones[at] = False"),
        ("state follows itself", "self.next_windows[at] = self.histories.windows[slot]", "self.next_windows[at] = decision.window"),
        ("lengths of what was", "self.next_lengths[at] = self.histories.lengths[slot]", "self.next_lengths[at] = decision.length"),
        ("unknown outcomes stored", "if decision.steps > 0:", "if decision.steps >= 0:"),
        ("history of the last episode", "self.histories.forget(slots)", "pass"),
        ("last action not kept", "histories.last_actions[slots] = actions", "pass"),
        ("windows not copied", "histories.windows[slot].copy()", "histories.windows[slot]"),
        ("never full", "self.full = True", "self.full = False"),
        ("oldest half only", "np.random.randint(0, self.size(), size", "np.random.randint(0, max(self.size() // 2, 1), size"),
    ),
    *_in(
        "ns3_env/history.py",
        ("nothing shifts", "windows[full, :-1] = windows[full, 1:]", "pass"),
        ("shifts before it is full", "full = lengths == windows.shape[1]", "full = lengths == windows.shape[1] - 1"),
    ),
    *_in(
        "agents/fdcc/history.py",
        ("last action of the last episode", "self.last_actions[slots] = 0.0", "pass"),
        ("padding of the last episode", "self.windows[slots] = 0.0", "pass"),
    ),
    *_in(
        "agents/fdcc/networks.py",
        ("output of the padding", "outputs[rows, last]", "outputs[:, -1]"),
        ("shortcut of the padding", "windows[rows, last]", "windows[:, -1]"),
        ("telemetry not compressed", "if self.compress:", "if False:"),
        ("action not bounded", "return th.tanh(self.raw(history))", "return self.raw(history)"),
        ("critics blind to actions", "head(encoder(history, actions))", "head(encoder(history, 0 * actions))"),
    ),
    *_in(
        "agents/fdcc/policy.py",
        ("past of another episode", "windows[start], lengths[start], last_actions[start] = 0.0, 0, 0.0", "pass"),
        ("actor's target of its own", "self.actor_target.load_state_dict(self.actor.state_dict())", "pass"),
        ("critics' targets of their own", "self.critic_target.load_state_dict(self.critic.state_dict())", "pass"),
        ("last action unscaled", "return (actions[0] if single else actions), (windows, lengths, scaled)", "return (actions[0] if single else actions), (windows, lengths, 0 * scaled)"),
    ),
    *_in(
        "agents/fdcc/stream.py",
        ("end takes the next beginning", 'outcome[slot] = infos[slot]["terminal_observation"]', "pass"),
        ("cuts terminate", "np.concatenate([dones & ~cut, no])", "np.concatenate([dones, no])"),
        ("cuts unseen", "np.concatenate([cut, no])", "np.concatenate([cut & False, no])"),
        ("beginnings unseen", "np.concatenate([np.zeros(n, dtype=bool), ~no])", "np.concatenate([np.zeros(n, dtype=bool), no])"),
        ("actions in the order given", "self._actions[slots] = actions", "self._actions[:] = actions"),
    ),
    *_in(
        "ns3_env/rewards.py",
        ("congested at the threshold", "- 1.0 > self.threshold", "- 1.0 >= self.threshold"),
        ("utilisation not subtracted", "- 1.0 > self.threshold", "> self.threshold"),
        ("no fairness", " - (throughput - share) ** 2", ""),
        ("distance not squared", "(throughput - share) ** 2", "(throughput - share)"),
        ("no share before the first flow", 'share = 1.0 / np.maximum(column(records, "flow_count"), 1.0)', 'share = 1.0 / column(records, "flow_count")'),
        ("congestion is free", 'np.where(congested, -column(records, "rtt"), probing)', "np.where(congested, 0.0, probing)"),
        ("stages exchanged", 'np.where(congested, -column(records, "rtt"), probing)', 'np.where(congested, probing, -column(records, "rtt"))'),
        ("queue not seen", ' + column(records, "qlen")', ""),
        ("power of the whole link", 'column(records, "throughput") * np.maximum(column(records, "flow_count"), 1.0)', 'column(records, "throughput")'),
        ("power without delay", "return share * _inverse_rtt(records)", "return share"),
        ("infinite before the first ACK", "where=rtt > 0", "where=rtt >= 0"),
        ("other offset", "self.base_ns - 1.5", "self.base_ns - 1.0"),
        ("no root of the rate", 'np.sqrt(column(records, "pacing_rate"))', 'column(records, "pacing_rate")'),
        ("target ignored", " - self.target) ** 2", ") ** 2"),
        ("base ignored", 'column(records, "rtt_ns") / self.base_ns', 'column(records, "rtt_ns") / 8192.0'),
        ("excess below zero", "np.maximum(column(records, \"rtt_ns\") / self.base_ns - 1.5, 0.0)", "(column(records, \"rtt_ns\") / self.base_ns - 1.5)"),
        ("overwritten", "if name in REWARDS:\n            raise", "if False:\n            raise"),
    ),
    *_in(
        "ns3_env/rollouts.py",
        ("a first row is rewarded", "        rewards[first] = 0.0\n", ""),
        ("flows not together", 'np.argsort(flows, kind="stable")', "np.arange(len(flows))"),
        ("rows of a flow out of order", "records = joined(\"records\", (len(telemetry.FIELDS),))", "records = joined(\"records\", (len(telemetry.FIELDS),))[::-1]"),
        ("every episode has the same seed", "episode_seed(self._seed, episode)", "episode_seed(self._seed, 0)"),
        ("no exploration", '"ActionNoise": playing.exploration.noise,', '"ActionNoise": 0.0,'),
        ("no random flows", '"RandomShare": playing.exploration.random_share,', '"RandomShare": 0.0,'),
        ("the youngest comes first", "self._begun.popleft()", "self._begun.pop()"),
    ),
    *_in(
        "agents/fdcc/replay.py",
        ("a rollout's return without discount", "returns[counted] += self.gamma**step * rewards[row[counted]]", "returns[counted] += rewards[row[counted]]"),
        ("a rollout's return crosses a flow's end", "after = np.minimum(taken + self.n_steps, last[taken])", "after = np.minimum(taken + self.n_steps, rows - 1)"),
        ("a rollout's return one step late", "row = taken + step + 1", "row = taken + step + 2"),
        ("a cut rollout is an end", "self.dones[at] = rollout.terminated[after, None]", "self.dones[at] = ~rollout.decided[after, None]"),
        ("a rollout's discount of n always", "(self.gamma ** (after - taken))[:, None]", "self.gamma**self.n_steps"),
        ("a rollout's history crosses flows", "lengths = np.minimum(age + 1, self.history_length)", "lengths = np.minimum(np.arange(len(age)) + 1, self.history_length)"),
        ("a rollout's last action of another flow", "np.where(age > 0, np.append(0.0, rollout.actions[:-1]), 0.0)", "np.append(0.0, rollout.actions[:-1])"),
        ("a rollout's next history is its own", "self.next_windows[at], self.next_lengths[at] = windows[after], lengths[after]", "self.next_windows[at], self.next_lengths[at] = windows[taken], lengths[taken]"),
        ("the ring does not move for a rollout", "self.pos = (self.pos + len(taken)) % self.buffer_size", "self.pos = self.pos"),
    ),
    *_in(
        "agents/training/curriculum.py",
        ("share turned around", "random.random() < self.config.earlier_share", "random.random() > self.config.earlier_share"),
        ("the current among the earlier", "random.integers(stage)", "random.integers(stage + 1)"),
        ("the first among the earlier", "chosen = int(random.integers(stage))", "chosen = 0"),
        ("an episode more", "self.entered[-1] + advance.after_episodes", "self.entered[-1] + advance.after_episodes + 1"),
        ("an episode late", "if index >= planned:", "if index > planned:"),
        ("stages begin when asked", "self._enter(planned)", "self._enter(index)"),
        ("one stage at a time", "            self._move_on(index)\n            return", "            return"),
        ("equal is good enough", "> advance.return_above", ">= advance.return_above"),
        ("no whole window", "len(recent) == advance.window", "recent"),
        ("returns of all the stage", "[-advance.window :]", "[:]"),
        ("returns of the last stage", "        self.entered.append(index)\n        self._returns.clear()", "        self.entered.append(index)"),
        ("goes back", "max(self.next_index, episode + 1)", "episode + 1"),
        ("all seeds alike", "default_rng((self.seed, episode))", "default_rng(episode)"),
        ("stage of the latest", "bisect_right(self.entered, episode) - 1", "self.stage"),
        ("returns not kept", "self._returns = deque(kept.returns)", "self._returns = deque()"),
        ("stages not kept", "self.entered = list(kept.entered)", "pass"),
        ("episodes not kept", "self.next_index = kept.next_index", "pass"),
        ("more stages than there are", "if len(kept.entered) > len(self.config.stages):", "if False:"),
        ("fewest flows", "return max(scenario.agent_flow_count", "return min(scenario.agent_flow_count"),
    ),
]  # fmt: skip
