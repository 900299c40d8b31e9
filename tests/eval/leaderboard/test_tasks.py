# SPDX-License-Identifier: GPL-2.0-or-later
"""The leaderboard of tasks: run once, scored by matching anchors, with a table of job times."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.training.layout import controller_layout, write_layout
from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.leaderboard.anchors import (
    JOBS,
    group_of,
    measured_anchors,
    outcome_of,
    value_of,
    write_anchors,
)
from ns3_env.eval.leaderboard.board import REFERENCES, beaten, sections
from ns3_env.eval.leaderboard.figures import checkpoints_in, learning_curves
from ns3_env.eval.leaderboard.files import whole
from ns3_env.eval.leaderboard.scoring import job_times
from ns3_env.eval.leaderboard.suite import can_play, entries_of, specs_of, suite_of_tasks
from ns3_env.ids import VERSIONS
from ns3_env.policies.file import PolicyFile, write_policy
from ns3_env.policies.released import controller_names, released
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import LocalPool
from ns3_env.simulator.results import Results
from ns3_env.tasks import FIRST_TEST_SEED, TASKS, TESTS
from ns3_env.tasks import anchors as stored
from ns3_env.tasks.anchors import anchors_of
from tests.samples.files import Refused
from tests.samples.policy_files import tiny

TASKS_PLAYED = ("Joining", "Shallow", "Layer2")


def benchmark(out: Path, *more: str) -> int:
    command = ["leaderboard", *TASKS_PLAYED, "--entries", "hpcc", "fdcc", "--out", str(out), *more]
    return main(command)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tasks under two entries, the bases and the references."""
    out = tmp_path_factory.mktemp("tasks") / "out"
    assert benchmark(out) == 0
    return out


@pytest.fixture(scope="module")
def scores(done: Path) -> pandas.DataFrame:
    return pandas.read_parquet(done / "scores.parquet")


def mean_scores(scores: pandas.DataFrame, entry: str) -> dict[str, float]:
    return dict(scores[scores["entry"] == entry].groupby("task")["score"].mean())


def test_the_base_scores_0_and_the_reference_100(scores: pandas.DataFrame) -> None:
    assert mean_scores(scores, "dcqcn")["Joining"] == pytest.approx(0, abs=1e-6)
    assert mean_scores(scores, "dcqcn")["Shallow"] == pytest.approx(0, abs=1e-6)
    assert mean_scores(scores, "qcn")["Layer2"] == pytest.approx(0, abs=1e-6)
    assert mean_scores(scores, "max_min")["Joining"] == pytest.approx(100)
    assert mean_scores(scores, "oracle")["Shallow"] == pytest.approx(100)
    assert mean_scores(scores, "oracle")["Layer2"] == pytest.approx(100)


def test_a_score_is_that_of_geometric_means_and_halving_counts_the_same(scores: pandas.DataFrame) -> None:
    anchors = stored.anchors_of(TASKS["Shallow"])
    of_hpcc = scores[(scores["entry"] == "hpcc") & (scores["task"] == "Shallow")]
    value = np.exp(np.log(of_hpcc["value"]).mean())
    span = np.log(anchors.base_value / anchors.reference_value)
    assert of_hpcc["score"].mean() == pytest.approx(100 * np.log(anchors.base_value / value) / span)
    step = anchors.score(0, 1.0) - anchors.score(0, 2.0)
    assert step == pytest.approx(anchors.score(0, 4.0) - anchors.score(0, 8.0))


def test_each_test_is_played_with_its_own_seed(done: Path) -> None:
    suite = BenchFolder.read(done).suite
    assert [case.name for case in suite.scenarios[:2]] == ["Joining-v5-0", "Joining-v5-1"]
    for case in suite.scenarios:
        number = int(case.name.rpartition("-")[2])
        assert suite.seeds_of(case) == [FIRST_TEST_SEED + number] == [case.scenario.seed]
    assert len(suite.scenarios) == len(TASKS_PLAYED) * TESTS


def test_each_group_has_a_table_and_policies_play_what_they_can_observe(done: Path) -> None:
    text = (done / "leaderboard.md").read_text()
    rdma, layer2 = text.split("## Layer2")
    assert "## RDMA" in rdma
    assert "| fdcc |" in rdma
    assert "| fdcc |" not in layer2
    assert "| *oracle* |" in layer2
    assert "In 0 of 30 tests an entry is better than the reference." in text
    assert (done / "figures" / "leaderboard-RDMA-iqm.png").stat().st_size > 0
    board = pandas.read_parquet(done / "leaderboard.parquet")
    assert set(board["group"]) == {"RDMA", "Layer2"}


def test_what_is_played_is_not_played_again(done: Path) -> None:
    def played() -> dict[Path, int]:
        return {x: x.stat().st_mtime_ns for x in done.glob("cells/*/*/*/metrics.json")}

    before = played()
    assert len(before) == 2 * TESTS * 9 + TESTS * 8  # Layer2 without fdcc
    assert benchmark(done) == 0
    assert played() == before


def test_another_version_of_a_task_is_refused(
    done: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.setitem(VERSIONS, "Shallow", 5)
    assert "no anchors of this version" in refused(main, "leaderboard", "Shallow")
    anchors = stored.stored_anchors()
    newer = {**anchors, "Shallow": dataclasses.replace(anchors["Shallow"], version=4)}
    monkeypatch.setattr("ns3_env.tasks.anchors.stored_anchors", lambda: newer)
    assert "Shallow-v4, and the task is ns3_env/Shallow-v5" in refused(main, "report", done)
    message = refused(main, "leaderboard", "Joining", "--entries", "hpcc", "--out", done)
    assert "Shallow-v5" in message


def test_tests_that_change_without_a_version_are_an_error_that_says_what_to_do() -> None:
    changed = dataclasses.replace(TASKS["Joining"], draw=TASKS["Shallow"].draw)
    with pytest.raises(ConfigError, match=r"raise its version in .*ids\.py; then .*--anchors"):
        stored.anchors_of(changed)


@pytest.mark.parametrize("name", ["Joining", "Tcp"])
def test_anchors_are_what_the_controllers_reach(name: str) -> None:
    expected = stored.anchors_of(TASKS[name])
    with LocalPool() as pool:
        measured = measured_anchors(pool, TASKS[name])
    assert (measured.version, measured.tests, measured.base) == (
        expected.version,
        expected.tests,
        expected.base,
    )
    assert measured.base_values == pytest.approx(expected.base_values, rel=1e-9)
    assert measured.reference_values == pytest.approx(expected.reference_values, rel=1e-9)


def test_anchors_that_move_without_a_version_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "anchors.json"
    content = json.loads(stored.FILE.read_text())
    content["Joining"]["base_values"][3] *= 1.01
    file.write_text(json.dumps(content))
    before = file.read_text()
    for module in ("ns3_env.tasks.anchors", "ns3_env.eval.leaderboard.anchors"):
        monkeypatch.setattr(f"{module}.FILE", file)
    with pytest.raises(ConfigError, match=r"scores would move\. Raise its version"):
        write_anchors([TASKS["Joining"]])
    assert file.read_text() == before


def test_every_task_has_anchors_that_leave_room() -> None:
    for spec in TASKS.values():
        anchors = stored.anchors_of(spec)
        assert anchors.base_value > 1.1 * anchors.reference_value, spec.name


def test_max_min_measures_how_far_slowdowns_are_from_the_fair_ones() -> None:
    fair = np.array([1.0, 2.0, 4.0, np.nan])
    assert value_of(TASKS["Joining"], fair, fair) == 1.0
    assert value_of(TASKS["Joining"], fair * [2, 0.5, 1, 1], fair) == pytest.approx(2 ** (2 / 3))
    assert value_of(TASKS["Shallow"], fair, fair) == pytest.approx(7 / 3)


def test_a_folder_of_runs_is_one_entry_and_a_run_may_have_a_policy_for_each_task(tmp_path: Path) -> None:
    for path in ("one/1", "one/2", "each/1/Joining", "each/1/Shallow"):
        (tmp_path / path).mkdir(parents=True)
        write_policy(tmp_path / path / "policy.safetensors", tiny())
    entries = entries_of([str(tmp_path / "one"), f"mine={tmp_path / 'each'}", f"x={tmp_path / 'one' / '1'}"])
    assert [(entry.of, entry.parameters) for entry in entries] == [
        ("one", {"run": "1"}),
        ("one", {"run": "2"}),
        ("mine", {"run": "1", "task": "Joining"}),
        ("mine", {"run": "1", "task": "Shallow"}),
        ("x", {}),
    ]
    assert [name for name in ("Joining", "Shallow", "Rates") if can_play(entries[2], TASKS[name])] == [
        "Joining"
    ]


def test_by_default_all_play_that_can() -> None:
    playing = {entry.name for entry in suite_of_tasks(specs_of(["Tcp"])).controllers}
    assert {"cubic", "dctcp", "rlcc", "oracle"} <= playing
    assert not {"hpcc", "dispatcher"} & playing


def test_a_task_of_ports_names_the_command_that_scores_it() -> None:
    with pytest.raises(ConfigError, match=r"its agents are at ports.*`eval thresholds` scores it"):
        specs_of(["Thresholds"])


def test_rules_and_policies_play_where_they_hear_what_they_need() -> None:
    by_name = {x.name: x for x in entries_of(["hpcc", "cubic", "dctcp", "fdcc", "rlcc", "constant-window"])}
    tasks_by_entry = {
        name: {spec.name for spec in TASKS.values() if can_play(entry, spec)}
        for name, entry in by_name.items()
    }
    assert tasks_by_entry["hpcc"] == set(TASKS) - {"Tcp", "Variable"}
    assert tasks_by_entry["constant-window"] == set(TASKS) - {"Tcp", "Variable"}
    assert tasks_by_entry["cubic"] == {"Tcp", "Variable"}
    assert tasks_by_entry["dctcp"] == set(TASKS) - {"Mixed"}  # DCQCN's flows need other marking
    assert tasks_by_entry["fdcc"] == set(TASKS) - {"Tcp", "Variable", "Layer2"}
    assert tasks_by_entry["rlcc"] == set(TASKS) - {"Layer2"}  # an RTT and its own rate


def test_an_entry_of_one_task_is_named_as_others_and_runs_nowhere_else() -> None:
    file = released("ppo-variable")
    assert file.parent.name == "Variable"
    assert "ppo-variable" in controller_names("tcp")
    assert "trpo" not in controller_names("tcp")
    for entry in entries_of(["ppo-variable"]):
        assert [spec.name for spec in TASKS.values() if can_play(entry, spec)] == ["Variable"]


def test_who_lacks_a_task_is_compared_on_the_others_and_stands_last(scores: pandas.DataFrame) -> None:
    lacking = scores[(scores["entry"] != "fdcc") | (scores["task"] != "Shallow")]
    (_, board), _ = sections(lacking)
    last = board.lines[-1]
    assert (last.entry, list(last.tasks)) == ("fdcc", ["Joining"])
    assert board.lacks(last)
    assert last.mean.value == pytest.approx(mean_scores(scores, "fdcc")["Joining"])


def test_who_beats_the_reference_is_named(scores: pandas.DataFrame) -> None:
    better = scores.copy()
    first = (better["entry"] == "hpcc") & (better["task"] == "Shallow") & (better["test_seed"] == 0)
    reference = (better["entry"] == "oracle") & (better["task"] == "Shallow") & (better["test_seed"] == 0)
    better.loc[first, "value"] = 0.9 * float(better.loc[reference, "value"].iloc[0])
    assert beaten(scores) == "In 0 of 30 tests an entry is better than the reference."
    assert beaten(better).startswith("In 1 of 30 tests")
    assert beaten(better).endswith("at most: Shallow 1 (hpcc by 10.0 %).")


def test_a_page_gets_the_tables_between_its_lines(done: Path, tmp_path: Path, refused: Refused) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- leaderboard -->\nold\n<!-- /leaderboard -->\nafter\n")
    assert main(["report", str(done), "--page", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("before\n<!-- leaderboard -->\n\n## RDMA")
    assert text.endswith("<!-- /leaderboard -->\nafter\n")
    assert "old" not in text
    page.write_text("nothing\n")
    assert "has no lines <!-- leaderboard -->" in refused(main, "report", done, "--page", page)
    assert page.read_text() == "nothing\n"


def test_checkpoints_of_runs_become_learning_curves(tmp_path: Path) -> None:
    for number in (1, 2):
        run = tmp_path / "mine" / f"run-{number}"
        run.mkdir(parents=True)
        (run / "config.yaml").write_text("{}")
        folder = RunFolder(run)
        folder.checkpoints.mkdir()
        for decisions, policy in ((0, tiny()), (100, tiny()), (200, tiny()), (300 + number, tiny("lstm"))):
            folder.save_checkpoint(decisions, of_policy(policy), {"decisions": decisions}, keep=10)
    out, page = tmp_path / "out", tmp_path / "page.md"
    arguments = ["Joining", "--out", str(out)]
    assert main(["leaderboard", *arguments, "--learning", "--entries", str(tmp_path / "mine")]) == 0
    scores = pandas.read_parquet(out / "scores.parquet")
    of_runs = scores[scores["entry"] == "mine"]
    assert set(of_runs[of_runs["run"] == "run-1"]["decisions"]) == {0, 200, 301}, (
        "what plays alike plays twice"
    )
    assert scores[scores["entry"] == "dcqcn"]["decisions"].isna().all()
    (curve,) = learning_curves(checkpoints_in(scores))
    assert (curve.entry, curve.runs, curve.decisions[0], curve.decisions[-1]) == ("mine", 2, 0, 301)
    assert (out / "figures" / "leaderboard-RDMA-learning.png").is_file()
    newest = of_runs[of_runs["decisions"] > 300]["score"].mean()
    (line,) = (x for x in (out / "leaderboard.md").read_text().splitlines() if x.startswith("| mine | 2 |"))
    assert line.split("|")[3].split()[0] == whole(newest)
    page.write_text("<!-- learning -->\n<!-- /learning -->\n")
    assert main(["report", str(out), "--page", str(page)]) == 0
    assert "(images/leaderboard-RDMA-learning.png)" in page.read_text()
    assert (tmp_path / "images" / "leaderboard-RDMA-learning.png").is_file()


def of_policy(policy: PolicyFile) -> Callable[[Path], None]:
    """Returns a function that writes a checkpoint of the policy."""

    def write(folder: Path) -> None:
        write_policy(folder / "policy.safetensors", policy)
        write_layout(folder, controller_layout(Controller(name="policy")))

    return write


def test_an_entry_that_lacks_a_cell_has_no_score_in_the_task(done: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(done, tmp_path / "out"))
    shutil.rmtree(out / "cells" / "Joining-v5-4" / "hpcc")
    assert main(["report", str(out)]) == 0
    scores = pandas.read_parquet(out / "scores.parquet")
    assert set(scores[scores["entry"] == "hpcc"]["task"]) == {"Shallow", "Layer2"}
    assert "‡" in (out / "leaderboard.md").read_text()


def test_benchmark_with_tasks_is_leaderboard_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["benchmark", "--tasks", "Incst", "--entries", "hpcc"]) == 2
    message = capsys.readouterr().err
    assert "`benchmark --tasks` goes in 0.4" in message
    assert "there is no task 'Incst'" in message


def test_all_stands_for_all_and_the_references_always_play() -> None:
    assert specs_of(["all"]) == list(TASKS.values())
    assert [spec.name for spec in specs_of(["ns3_env/Rates-v4", "Incast"])] == ["Incast", "Rates"]
    suite = suite_of_tasks(specs_of(["Incast"]), ["swift"])
    assert [x.name for x in suite.controllers] == ["swift", "dcqcn", *REFERENCES]


@pytest.fixture(scope="module")
def with_jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("jobs") / "out"
    assert main(["leaderboard", "AllReduce", "Joining", "--entries", "timely", "--out", str(out)]) == 0
    return out


def completions(file: Path) -> list[float]:
    """Duration of each job, from its first iteration's start to its last one's end."""
    jobs = pandas.read_csv(file).groupby("job")
    return list(jobs["end_ns"].max() - jobs["start_ns"].min())


def test_job_times_are_geometric_means_over_the_base(with_jobs: Path) -> None:
    (times,) = job_times(BenchFolder.read(with_jobs))  # Joining has no jobs
    assert (times.task, times.base) == ("AllReduce", "dcqcn")
    assert times.ratios["dcqcn"] == (1.0, 1.0)
    ratios = []
    for cell in sorted((with_jobs / "cells").glob("AllReduce-*")):
        of_timely, base = (
            completions(next((cell / name).glob("*/jobs.csv"))) for name in ("timely", "dcqcn")
        )
        assert len(of_timely) == len(base) == 2
        ratios.append((sum(of_timely) / sum(base), max(of_timely) / max(base)))
    assert len(ratios) == 10
    expected = [math.exp(sum(map(math.log, column)) / 10) for column in zip(*ratios, strict=True)]
    assert times.ratios["timely"] == pytest.approx(expected)
    assert list(times.ratios.values()) == sorted(times.ratios.values())


def test_the_leaderboard_has_them_below_the_scores(with_jobs: Path) -> None:
    text = (with_jobs / "leaderboard.md").read_text()
    assert text.index("## RDMA") < text.index("## Job times in AllReduce")
    assert "| dcqcn | 1.000 | 1.000 |" in text
    assert "Job times in Joining" not in text


#: Tasks of jobs, and of each the test with the fewest bytes.
SHORTEST = {"Training": 9, "SharedCluster": 1}
RING = {"kind": "collective", "algorithm": "ring_all_reduce", "ranks": [0, 1, 2], "size_bytes": 600_000}


def value(results: Results) -> float:
    """SharedCluster's measure, ms."""
    slowdowns, time_ns = outcome_of(results)
    return value_of(TASKS["SharedCluster"], slowdowns, slowdowns, time_ns)


def play(*parts: dict[str, Any], **changes: Any) -> Results:
    content = {
        "topology": {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 6},
        "traffic": {"kind": "mix", "parts": list(parts)},
        "controllers": ["dcqcn"],
        **changes,
    }
    with Simulator() as simulator:
        return simulator.play(Scenario.from_mapping(content, "x"))


def burst(size_bytes: int, start_ns: int = 0) -> dict[str, Any]:
    """Storage traffic, on separate hosts."""
    flows = [{"src": src, "dst": 5, "size_bytes": size_bytes, "start_ns": start_ns} for src in (3, 4)]
    return {"kind": "list", "flows": flows}


def test_jobs_count_and_bursts_do_not() -> None:
    alone, short, long = play(RING), play(RING, burst(1_000)), play(RING, burst(9_000_000))
    assert long["totals"]["end_ns"] > 3 * alone["totals"]["end_ns"]
    assert value(alone) == value(short) == value(long) > 0


def test_a_value_is_the_mean_of_the_jobs_in_milliseconds() -> None:
    other = {**RING, "ranks": [3, 4, 5], "size_bytes": 3_000_000, "start_ns": 50_000}
    first, second, both = (value(play(*parts)) for parts in ([RING], [other], [RING, other]))
    assert both == pytest.approx((first + second) / 2)
    assert 0.05 < first < second < 1


def test_a_job_that_is_cut_lasts_until_the_time_limit() -> None:
    whole = value(play(RING))
    results = play(RING, {**RING, "ranks": [3, 4, 5], "size_bytes": 60_000_000}, time_limit_ns=2_000_000)
    assert value(results) == pytest.approx((whole + 2.0) / 2)


@pytest.mark.parametrize(("name", "number"), SHORTEST.items())
def test_the_base_has_0_and_the_reference_100(name: str, number: int) -> None:
    spec = TASKS[name]
    anchors = anchors_of(spec)
    assert (anchors.base, group_of(spec)) == ("dcqcn", JOBS)
    with Simulator() as simulator:
        for controller, expected in (
            ("dcqcn", anchors.base_values),
            (spec.reference, anchors.reference_values),
        ):
            reached = value(simulator.play(spec.test(number).under(controller)))
            assert reached == pytest.approx(expected[number], rel=1e-9)
    assert np.mean([anchors.score(i, x) for i, x in enumerate(anchors.base_values)]) == 0
    assert np.mean([anchors.score(i, x) for i, x in enumerate(anchors.reference_values)]) == pytest.approx(
        100
    )


@pytest.mark.slow
def test_they_have_a_leaderboard_of_their_own(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["leaderboard", "Training", "--entries", "constant-window", "--out", str(out)]) == 0
    text = (out / "leaderboard.md").read_text()
    assert "## Jobs" in text
    assert "## RDMA" not in text
    assert "The score counts the first column." in text
    scores = pandas.read_parquet(out / "scores.parquet")
    means = scores.groupby("entry")["score"].mean()
    assert means["dcqcn"] == pytest.approx(0, abs=1e-6)
    assert means["oracle"] == pytest.approx(100)
    jobs = pandas.read_csv(next((out / "cells" / "Training-v3-3" / "constant-window").glob("*/jobs.csv")))
    (row,) = scores[(scores["entry"] == "constant-window") & (scores["test_seed"] == 3)].to_dict("records")
    assert row["value"] == pytest.approx((jobs["end_ns"].max() - jobs["start_ns"].min()) / 1e6)
