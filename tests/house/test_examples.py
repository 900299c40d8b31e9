# SPDX-License-Identifier: GPL-2.0-or-later
"""Examples of learning libraries and code of pages, run unchanged for a few steps."""

import re
import runpy
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.paths import ROOT

EXAMPLES = {
    "ppo_sb3": ["--steps", "1024", "--out", "out"],
    "ppo_single_file": ["--steps", "1024", "--tensorboard", "out"],
    "pettingzoo_supersuit": ["--steps", "2048"],
    "torchrl_td3": ["--steps", "400"],
}

BLOCKS = [
    (page, code)
    for page in ("README", "docs/getting-started", "docs/learning-libraries", "docs/python-api", "docs/tasks")
    for code in re.findall(r"```python\n(.*?)```", (ROOT / f"{page}.md").read_text("utf-8"), re.DOTALL)
]


@pytest.mark.parametrize(("page", "code"), BLOCKS)
def test_what_a_page_shows_runs(
    page: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    exec(compile(code, f"{page}.md", "exec"), {})


Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The output of an example, run as a script in this process, which has imported its libraries already."""

    def output(name: str, *options: str) -> str:
        script = ROOT / "examples" / f"{name}.py"
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
        monkeypatch.syspath_prepend(script.parent)
        monkeypatch.setattr("sys.argv", [str(script), *options])
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            runpy.run_path(str(script), run_name="__main__")
        return capfd.readouterr().out

    return output


def test_learning_offline_ends_with_scores_of_each_dataset_and_learner(run: Run) -> None:
    pytest.importorskip("minari")
    printed = run("offline_rl", "--episodes", "1", "--updates", "10", "--out", "out")
    sizes = {name: int(n.replace(",", "")) for name, n in re.findall(r"(\w+): (\S+) decisions", printed)}
    assert sizes["mixed"] == sizes["expert"] + sizes["medium"] > 1000
    for learner in ("clone", "td3bc"):
        for quality in sizes:
            assert re.search(rf"{learner}-{quality} +-?\d+ \[", printed.replace("−", "-"))


def test_d3rlpy_ends_with_a_table_of_datasets_and_learners(run: Run) -> None:
    pytest.importorskip("d3rlpy")
    printed = run("offline_d3rlpy", "--episodes", "1", "--steps", "2", "--seeds", "1", "--out", "out")
    for dataset in ("dispatcher", "rules", "mixed"):
        assert re.search(rf"\| {dataset} (\| -?\d+ \[-?\d+, -?\d+\] ){{4}}\|", printed)


def test_a_clone_acts_nearly_as_what_it_was_cloned_from(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("minari")
    printed = run("behaviour_cloning", "--episodes", "2", "--updates", "1500", "--out", "out")
    error, size = map(float, re.findall(r"mean error: (\S+), where an action is (\S+)", printed)[0])
    assert error < size / 2
    slowdowns = dict(re.findall(r"(.*): mean FCT slowdown (\S+)", printed))
    assert list(slowdowns) == ["clone", "MPCC", "constant window"]
    assert (tmp_path / "out" / "policy.safetensors").exists()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_learns_something(name: str, run: Run, tmp_path: Path) -> None:
    printed = run(name, *EXAMPLES[name])
    slowdowns = re.search(r"mean slowdown: (\d+\.\d+) before, (\d+\.\d+) after \d+ steps", printed)
    assert slowdowns, printed
    assert slowdowns[1] != slowdowns[2], "weights that have not changed are as fast on the same episodes"
    if name == "ppo_sb3":
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["policy.safetensors", "ppo.zip"]
        assert "unseen 8-to-1 incast" in printed
    if name == "ppo_single_file":
        assert list((tmp_path / "out").iterdir())
