# SPDX-License-Identifier: GPL-2.0-or-later
"""Plateau detection: when a stage is left or returned to, by scores of held-back episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import Count, Setting
from ns3_env.config.model import Strict

#: Share by which a score must exceed the best one to count.
IMPROVEMENT = 0.03
#: Share of its best score below which an earlier stage is returned to.
DECLINE = 0.5
#: Score of a validation's episode.
Score = Literal["reward", "slowdown"]


class ValidationConfig(Strict):
    """Validation of stages: at intervals the policy runs episodes that are never learned from.

    It does not explore in them.
    """

    every_episodes: Count = Field(default=25, ge=1, description="episodes learned from between validations")
    episodes: Setting = Field(default=2, ge=1, description="of each stage so far, always the same")
    score: Score = Field(
        default="reward",
        description="of an episode: the mean reward of its decisions, or minus the logarithm of the mean "
        "slowdown of its flows, unfinished ones charged",
    )
    patience: Setting = Field(
        default=4, ge=1, description="validations without improvement after which a stage is left"
    )
    gap_to: str | None = Field(
        default=None,
        description="controller or released policy: stages are drawn from the start, each the more often the "
        "more the policy loses to it there (Genet); none: one follows the other",
    )

    @model_validator(mode="after")
    def _gap_of_what_a_controller_has(self) -> Self:
        if self.gap_to is not None and self.score != "slowdown":
            raise ValueError("gap_to: controllers have no reward: write score: slowdown")
        return self


class PlateauState(Strict):
    """State in a checkpoint.

    Attributes:
        best: scores of the stages so far, the present one last, which a new score must exceed by
            IMPROVEMENT.
        stale: validations in a row without an improvement of the present stage, of those before which it was
            trained.
        returned_to: number of an earlier stage that got worse and is trained again.
        tried: number of validations in a row since then.
        since: episodes learned from since the last validation.
        best_mean: best mean over the stages, since the present one was entered.
    """

    best: list[float] = Field(default_factory=list)
    stale: int = Field(default=0, ge=0)
    returned_to: Annotated[int, Field(ge=0)] | None = None
    tried: int = Field(default=0, ge=0)
    since: int = Field(default=0, ge=0)
    best_mean: float | None = None


class Plateau:
    """Judges the stages of a curriculum by their scores, validation by validation."""

    def __init__(self, config: ValidationConfig) -> None:
        self.config = config
        self.state = PlateauState()

    @property
    def due(self) -> bool:
        """Returns whether it is time for a validation."""
        return self.state.since >= self.config.every_episodes

    @property
    def returned_to(self) -> int | None:
        """Number of the earlier stage that got worse, until it has recovered or does not improve any more."""
        return self.state.returned_to

    def learned_from_episode(self) -> None:
        """An episode has ended that is learned from."""
        self.state = self.state.model_copy(update={"since": self.state.since + 1})

    def judge(self, scores: Sequence[float]) -> tuple[bool, bool]:
        """Records a validation.

        Args:
            scores: score of each stage so far, the present one last.

        Returns:
            Whether the mean over the stages is the best since the present one was entered, and whether the
            present stage is to be left.
        """
        state, config = self.state, self.config
        present = len(scores) - 1
        entered = len(state.best) <= present
        best = [*state.best, *scores[len(state.best) :]]
        better = [score > mark + IMPROVEMENT * abs(mark) for score, mark in zip(scores, best, strict=True)]
        fallen = [
            stage for stage in range(present) if scores[stage] < best[stage] - DECLINE * abs(best[stage])
        ]
        tried = state.tried + 1 if fallen else 0
        if tried > config.patience:  # it does not recover: its present score is the new mark
            best[fallen[0]], tried, fallen = scores[fallen[0]], 0, []
        trained = state.returned_to is None  # the present stage was, since the last validation
        stale = 0 if entered or better[present] else state.stale + trained
        best = [score if up else mark for score, mark, up in zip(scores, best, better, strict=True)]
        mean = sum(scores) / len(scores)
        best_mean = None if entered else state.best_mean
        is_best = best_mean is None or mean > best_mean
        self.state = PlateauState(
            best=best,
            stale=stale,
            returned_to=fallen[0] if fallen else None,
            tried=tried,
            best_mean=mean if is_best else best_mean,
        )
        return is_best, stale >= config.patience and not fallen
