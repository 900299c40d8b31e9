# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that went: commands and options; the others are tested where they are looked up."""

from __future__ import annotations

import pytest

from ns3_env.decision.actions import make_action_map
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main
from tests.samples.files import Refused


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["plot", "values", "runs/x", "--out", "x.png"], "the command 'plot values' went in 0.3: use FlowSt"),
        (["run", "x.yaml", "--planner=hpcc"], "the option '--planner' went in 0.3: use Simulator.branch"),
        (
            ["benchmark", "quick", "--planner", "x"],
            "the option '--planner' went in 0.3: use Simulator.branch",
        ),
    ],
)
def test_a_command_or_an_option_that_went_says_what_to_use_instead(
    command: list[str], words: str, refused: Refused
) -> None:
    assert words in refused(main, *command)


def test_an_action_that_went_says_what_to_use_instead() -> None:
    with pytest.raises(ConfigError, match=r"the action 'residual' went in 0\.3: use 'exponential_window'"):
        make_action_map("residual", base="hpcc")
