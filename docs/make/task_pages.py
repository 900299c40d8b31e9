# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a page of all tasks from their declarations, for the site; writes the table of docs/tasks.md.

python docs/make/task_pages.py            writes the table
python docs/make/task_pages.py --check    reports whether it is out of date, and then ends with 1
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ns3_env.decision.observations import FIELDS, wire_bytes
from ns3_env.eval.output.table import markdown_table
from ns3_env.ids import CHANGES, VERSIONS
from ns3_env.scenario import PerFlowRtt, Scenario
from ns3_env.tasks import FIRST_TEST_SEED, TASKS, TESTS, TaskSpec
from ns3_env.tasks.anchors import Anchors, stored_anchors
from ns3_env.tasks.front_ends import OTHERS

INDEX = Path(__file__).parents[1] / "tasks.md"
#: Place of the table in docs/tasks.md.
TABLE = re.compile(r"(<!-- tasks -->\n).*(<!-- /tasks -->)", re.DOTALL)
#: Meanings of fields; unit and range are declared in C++.
MEANINGS = {
    "rtt": "RTT of the last ACK",
    "qlen": "queue of the most congested hop",
    "switch_rate": "what that hop sends",
    "fair_share": "least rate / flows of the path's hops",
    "goodput": "what arrived since the last decision",
    "ecn_fraction": "share of marked ACKs",
    "repeated_fraction": "share of what was sent that had been sent before",
    "rtt_slope": "how the RTT changes",
    "pacing_rate": "the flow's own rate",
    "flow_count": "flows at the most congested hop",
    "shorter_backlog": "what flows with less left than this one have to send over its busiest link",
    "fairness_weight": "1 if equal shares are wanted, 0 if short completion times are",
    "remaining": "bytes that are left",
    "attained": "bytes that have arrived",
    "last_action": "the action before",
    "notified_offset": "queue above its target, of the last feedback frame",
    "notified_delta": "its growth, of the last feedback frame",
    "notified_feedback": "-Fb of the last feedback frame",
}
SCORED = {
    "slowdown": "the mean FCT slowdown of the task's flows; one that is cut pays for what is left of it",
    "max_min": "how far the flows' slowdowns are from those of the max-min allocation",
    "job_time": "the time of a training job in ms, from its first start to its last end, mean over jobs",
}
#: The same in the table.
SCORES = {"slowdown": "slowdown", "max_min": "max-min fairness", "job_time": "job time"}


def number(value: float) -> str:
    """As short as it can be said."""
    return f"{value:g}" if abs(value) < 1e5 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")


def docstring(thing: object) -> str:
    """A docstring as Markdown."""
    text = inspect.getdoc(type(thing)) or ""
    text = re.sub(r":class:`~?(?:\w+\.)*(\w+)`", r"`\1`", text).replace("``", "`")
    return re.sub(r"\(docs/(decisions/[\w.-]+)\)", r"([why](\1))", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of words."""
    return "\n".join(markdown_table(head, rows, len(head)))


def anchors(spec: TaskSpec) -> Anchors | None:
    """Base and reference of the task's score, if they have been measured."""
    stored = stored_anchors().get(spec.name)
    return stored if stored and stored.version == VERSIONS[spec.name] else None


def fields(names: set[str]) -> str:
    """Fields that tasks observe: units, ranges, bytes."""
    rows = []
    for field in FIELDS:
        if field.name in names:
            unit = field.normaliser if field.unit == "1" and field.normaliser else field.unit
            span = f"{number(field.low)} to {number(field.high)}"
            rows.append((f"`{field.name}`", MEANINGS[field.name], unit, span, str(wire_bytes([field.name]))))
    return table(("field", "what it is", "in", "range", "bytes on the wire, alone"), rows)


def clock(spec: TaskSpec) -> str:
    """When flows decide."""
    if isinstance(spec.clock, PerFlowRtt):
        first = "before its first packet and " if spec.clock.start_bdps else ""
        return f"{first}{spec.clock.rtt_fraction:g} RTT after its last decision, each flow for itself"
    return "with each feedback frame of a switch"


def network(scenario: Scenario) -> str:
    """Its size, in words."""
    built = scenario.topology.build()
    rates = sorted({link.rate_bps for link in built.links})
    hosts = len(built.hosts)
    shown = " and ".join(f"{rate / 1e9:g}" for rate in rates)
    return f"{hosts} hosts, {len(built.nodes) - hosts} switches, {shown} Gb/s"


def tests(spec: TaskSpec) -> str:
    """A row for each test scenario."""
    measured = anchors(spec)
    head = ["test", "seed", "network", "flows", "under the agent", "MB"]
    if measured:
        head += [measured.base, spec.reference]
    rows = []
    for i in range(TESTS):
        scenario = spec.test(i)
        size = sum(scenario.flows().size_bytes) / 1e6
        row = [str(i), f"2^40 + {i}", network(scenario), str(scenario.flow_count)]
        row += [str(scenario.agent_flow_count), f"{size:.3g}"]
        if measured:
            row += [f"{values[i]:.3g}" for values in (measured.base_values, measured.reference_values)]
        rows.append(row)
    return table(head, rows)


def score(spec: TaskSpec) -> str:
    """The measured quantity, and the meaning of 0 and 100."""
    text = f"Scored is {SCORED[spec.measure]}: the lower the better. The reference is `{spec.reference}`."
    measured = anchors(spec)
    if measured is None:
        return text
    base, reference = measured.base_value, measured.reference_value
    return (
        f"{text} 0 is what `{measured.base}` reaches, {base:.3g} as a geometric mean over the test scenarios, and "
        f"100 what the reference does, {reference:.3g}: 100 ln({base:.3g} / value) / ln({base:.3g} / {reference:.3g})."
    )


def settings(thing: Any) -> str:
    """Its settings as code."""
    return ", ".join(f"`{name}={value!r}`" for name, value in asdict(thing).items())


def section(spec: TaskSpec) -> str:
    """A task's part of the page."""
    transport, acts = spec.test(0).transport, spec.action.space
    observed = ", ".join(f"`{name}`" for name in spec.fields)
    box = f"`Box({acts.low[0]:g}, {acts.high[0]:g}, {acts.shape})`"
    reasons = enumerate(CHANGES[spec.name], start=2)
    changes = [f"v{number}: {reason}." for number, reason in reasons][::-1]
    facts = [
        ("observation", f"`Box({len(spec.fields)},)` float32: {observed}"),
        ("bytes on each packet", "0" if transport == "tcp" else str(wire_bytes(spec.fields))),
        ("action", f"{box} float32: `{spec.action.name}`, {settings(spec.action)}"),
        ("reward", ", ".join(filter(None, (f"`{spec.reward}`", settings(spec.problem().reward))))),
        ("a flow decides", clock(spec)),
        ("a flow is cut", f"after {spec.test(0).time_limit_ns / 1e6:g} ms of simulated time"),
        ("most flows under the agent", str(spec.slots)),
        ("other flows in Gymnasium", f"`{OTHERS[transport]}`"),
        ("budget of a training on this task alone", f"{spec.decisions:,} decisions"),
        ("versions", " ".join([*changes, "v1: the first."])),
    ]
    if spec.spared:
        facts.append(("telemetry", ", ".join(f"`{key}: {value}`" for key, value in spec.spared.items())))
    if spec.attributes:
        facts.append(("agent", ", ".join(f"`{key}: {value}`" for key, value in spec.attributes.items())))
    return f"""## {spec.name}

{spec.summary}. `gymnasium.make("{spec.id}")`, `ns3_env.tasks.make("{spec.name}", front_end)`.

![Network of test scenario 0, rates or windows of its flows, and the longest queue](images/tasks/{spec.name.lower()}.png)

{table(("", ""), facts)}

{tests(spec)}

{score(spec)}
"""


def parts(things: dict[str, object]) -> str:
    """A section for each action map or reward."""
    return "\n\n".join(f"### `{name}`\n\n{docstring(thing)}" for name, thing in things.items())


def page() -> str:
    """The page of all tasks."""
    specs = list(TASKS.values())
    actions = {spec.action.name: spec.action for spec in specs}
    rewards = {spec.reward: spec.problem().reward for spec in specs}
    sections = "\n".join(map(section, specs))
    return f"""# Each task

Pictures show test scenario 0 under two controllers: its network (orange: hosts that receive), the flows' rates (windows over TCP; percentiles where flows are many), the longest queue.
In Gymnasium an episode is one flow's life, of another flow in each; the other front ends have every flow of the task under the agent. The last info of a flow has its `"slowdown"`.
A training scenario is drawn from each seed in [0, 2^31), a test scenario from 2^40 + its number: no training draws one. [All front ends](tasks.md), [who reaches what](leaderboard.md).

{sections}
## Fields

{fields({name for spec in specs for name in spec.fields})}

Values are cut to their range. A byte count of a field alone: fields share what they need ([table](architecture.md#bytes-of-telemetry)).

## Actions

{parts(actions)}

## Rewards

{parts(rewards)}
"""


def index() -> str:
    """The table of docs/tasks.md."""
    rows = []
    for spec in TASKS.values():
        flows = {spec.test(i).agent_flow_count for i in range(TESTS)}
        count = f"{min(flows)} to {max(flows)}" if len(flows) > 1 else str(*flows)
        rows.append((spec.name, spec.summary, count, f"`{spec.reward}`", SCORES[spec.measure]))
    return table(("task", "what it is", "flows of a test", "reward", "score"), rows)


def main(arguments: list[str]) -> int:
    """Writes, or checks; the exit code."""
    assert FIRST_TEST_SEED == 2**40, "pages say so"
    text = INDEX.read_text("utf-8")
    new = TABLE.sub(lambda match: f"{match[1]}{index()}\n{match[2]}", text)
    if arguments == ["--check"]:
        if text != new:
            print("docs/tasks.md is out of date: python docs/make/task_pages.py")
        return int(text != new)
    INDEX.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
