"""HEAD's first-parent chain, read from git as far as the horizon reaches, and its times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ctxsearch.graph.attribution import NO_LINES, Ints
from ctxsearch.graph.git import Git
from ctxsearch.graph.history_store import HistoryStore, View
from ctxsearch.graph.node_history import CommitColumns, Longs
from ctxsearch.graph.patches import Commit, read_chain

DAY = 86_400


@dataclass(frozen=True, slots=True)
class Horizon:
    """How far back history is read: both must be exceeded. `days` None is all of it."""

    days: int | None = 730
    commits: int = 500

    def reach(self, times: Longs) -> int:
        """How many of a chain's commits (clamped times, newest first) lie within."""
        if self.days is None or not len(times):
            return len(times)
        recent = int(np.searchsorted(-times, self.days * DAY - int(times[0]), side="right"))
        return min(max(recent, self.commits), len(times))

    def __str__(self) -> str:
        return f"{self.days} days, {self.commits} commits"


def clamped(columns: CommitColumns, chain: Ints) -> Longs:
    """Committer times that never run backwards: a commit is no younger than the ones built on it."""
    times: Longs = np.minimum.accumulate(columns.times[chain])
    return times


def read_whole_chain(
    git: Git, store: HistoryStore, horizon: Horizon, head: str, before: View | None
) -> tuple[Ints, bool]:
    """HEAD's first-parent chain at least to the horizon, and whether history was cut off before that.

    Joins the known chain where it meets it, and then goes on from that one's end if need be: a HEAD that is
    older than the last one looks further back.
    """
    known = before.chain if before is not None else NO_LINES
    grafts = _grafts(git)
    chain: list[int] = []
    times: list[int] = []
    with store.transaction():
        for commit in _within(read_chain(git, head), horizon, times):
            if commit.id in grafts:
                return np.array(chain, np.int32), True
            (number,) = store.add_commits([commit])
            if (place := np.flatnonzero(known == number)).size:
                joined = np.concatenate((np.array(chain, np.int32), known[int(place[0]) :]))
                if before is not None and _is_deep_enough(store, horizon, before, joined):
                    return joined, False
                return _extended(git, store, horizon, joined.tolist(), grafts)
            chain.append(number)
    return np.array(chain, np.int32), False


def _is_deep_enough(store: HistoryStore, horizon: Horizon, before: View, chain: Ints) -> bool:
    """Whether a chain reaches the horizon because the one that it joined did, with a HEAD that was no newer."""
    times = store.columns().times
    newer = int(times[chain[0]]) >= int(times[before.chain[0]])
    long_enough = len(chain) >= min(len(before.chain), horizon.commits)
    return newer and long_enough and before.horizon == str(horizon) and not before.is_cut


def _extended(
    git: Git, store: HistoryStore, horizon: Horizon, chain: list[int], grafts: frozenset[str]
) -> tuple[Ints, bool]:
    times = clamped(store.columns(), np.array(chain, np.int32)).tolist()
    oldest = store.commit(chain[-1])[0].id
    older = read_chain(git, oldest)
    next(older, None)  # itself
    for commit in _within(older, horizon, times):
        if commit.id in grafts:
            return np.array(chain, np.int32), True
        chain.extend(store.add_commits([commit]))
    return np.array(chain, np.int32), False


def _within(commits: Iterator[Commit], horizon: Horizon, times: list[int]) -> Iterator[Commit]:
    """Commits until the horizon is passed; `times` are the clamped times so far, and is added to."""
    for commit in commits:
        time = min(commit.time, times[-1]) if times else commit.time
        far = horizon.days is not None and times and times[0] - time > horizon.days * DAY
        if far and len(times) >= horizon.commits:
            return
        times.append(time)
        yield commit


def _grafts(git: Git) -> frozenset[str]:
    """Where a shallow clone was cut off: these commits look as if they had made everything."""
    if not git.is_shallow():
        return frozenset()
    return frozenset((git.common_dir / "shallow").read_text().split())
