"""Decides whether a message belongs to the task before it: a task begins, is followed up, pauses, and ends.

`RULES` is the whole decision: the first rule that applies decides. A task begins with a message that names work. It
ends when the user calls it done, when another task begins, or after `SILENCE`. A message without clear work of another
role belongs to it, because a wrong change of role withholds tools, and a lost role opens the gate. Small talk pauses a
task, and its role stays in force: a message that is taken for small talk by mistake opens no gate.

Hosts, `dispatch` with `context.previous`, and the Agent-Zero extension use this module.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from .declared_phrases import WHOLE
from .follow_up_words import MessageSigns, extract_objects, find_common, is_general, read_signs
from .request_text import read_request
from .request_words import STOP_WORDS
from .task_states import ENDED, MAX_TEXTS, OPEN, PAUSED, TaskState
from .text_index import FOREIGN_SHARE, Ranked, Ranking, TextIndex, say_why
from .utc import as_utc

SILENCE: Final = 8 * 3600.0
"""Seconds without a message after which a task is over: a working day."""
MAX_TEXT_LENGTH: Final = 400
IS_SMALL_TALK: Final = "the message is small talk"
_CLEAR_EVIDENCE: Final = 0.45
"""The least weight of a word that shows clearly which role should work."""
_CLEAR_SCORE: Final = 0.5
"""The least score at which one clear word, with an object of its own, begins another task."""
_CERTAIN_SCORE: Final = 0.7
"""The least score at which one clear word moves a task on its own object."""
_STRONG_SCORE, _STRONG_SCORE_OF_REFERENCE = 0.8, 0.85
"""The least score at which a message with many objects of its own begins another task, without and with a word that could
refer to the task."""
_OWN_OBJECTS, _MANY_OBJECTS, _WHOLE_STORY = 2, 3, 5
"""Words about something that the task was not about, which make a message stand alone. With so many that they tell a whole
story, a thing that every task has, such as `the cause`, is not that of the task."""


class Task(NamedTuple):
    """A task that a role works on for one person."""

    role_id: str
    texts: tuple[str, ...]
    """The message that began it, then the latest messages, each cut."""
    started: float | None = None
    """Seconds since 1970. None if the caller does not know."""
    last: float | None = None
    """When its latest message came. Without it, silence does not end the task."""
    domain: str | None = None
    state: TaskState = OPEN
    """`open`, `paused` by small talk, or `ended` by the user."""


class Verdict(NamedTuple):
    """What a message does to the task before it."""

    rule: str
    """The code of the rule that decided."""
    effect: str
    """`begin` another task, `keep`, `move` to another role, `pause` (the role stays in force), `end`, or `leave`: no
    task, and the message by itself chooses no role."""
    role_id: str | None
    """The role that works on the message. None if no role does."""
    reason: str
    task: Task
    """The task after the message."""


@dataclass(frozen=True)
class _Situation:
    """A message, and the task before it. What only some rules ask is computed on first use."""

    index: TextIndex
    message: str
    ranking: Ranking
    task: Task
    now: float
    believed: str | None = None

    @cached_property
    def signs(self) -> MessageSigns:
        return read_signs(self.message)

    @property
    def best(self) -> Ranked | None:
        """The role that clearly fits best, without regard to the task."""
        return self.ranking.ranked[0] if self.ranking.outcome == "role" else None

    @property
    def best_id(self) -> str | None:
        return self.index.roles[self.best.role] if self.best is not None else None

    @property
    def is_other(self) -> bool:
        """Whether another role than that of the task fits best."""
        return self.best_id is not None and self.best_id != self.task.role_id

    @property
    def is_named(self) -> bool:
        return self.best is not None and any(each.kind in ("name", "example") for each in self.best.evidence)

    @cached_property
    def clear_words(self) -> frozenset[str]:
        """Words that clearly support the best role and do not occur in any task."""
        return frozenset(word for word in self.supporting_words if not is_general(word))

    @cached_property
    def supporting_words(self) -> frozenset[str]:
        """Words that clearly support the best role."""
        return frozenset(
            word
            for each in (self.best.evidence if self.best is not None else ())
            if each.kind in ("word", "alike") and each.amount >= _CLEAR_EVIDENCE
            for word in each.word.split()
            if len(word) > 2 and word not in STOP_WORDS
        )

    @cached_property
    def shared(self) -> str:
        """A word of the message that the task is about."""
        return find_common(
            self.signs.content, [stem for text in self.task.texts for stem in extract_objects(text)]
        )

    @cached_property
    def own_objects(self) -> tuple[str, ...]:
        """What the message is about, and the task was not."""
        known = [stem for text in self.task.texts for stem in extract_objects(text)]
        return tuple(stem for stem in self.signs.content if not find_common((stem,), known))

    @property
    def refers(self) -> str:
        """The sign that the message is about the task. Empty without one."""
        is_story = len(self.own_objects) >= _WHOLE_STORY and not self.signs.is_question
        return self.signs.points_back or self.shared or ("" if is_story else self.signs.asks_about_work)

    @cached_property
    def score(self) -> float:
        """The score of the best role without triggers of words that occur in any task, such as `error message`.

        In a language in which roles have only examples, it is raised as the ranking lowers what is enough.
        """
        if self.best is None:
            return 0.0
        doubt = 1 - self.best.score
        for each in self.best.evidence:
            if each.kind == "trigger" and each.amount < 1 + WHOLE and all(map(is_general, each.word.split())):
                doubt /= 2 - each.amount
        share = 1.0 if self.ranking.language is None else FOREIGN_SHARE
        return min(1.0, max(0.0, 1 - doubt) / share)

    @property
    def only_resembles(self) -> bool:
        """Whether the message is like an example of the role and uses no declared trigger, so no phrase of its own names work."""
        kinds = {each.kind for each in (self.best.evidence if self.best is not None else ())}
        return "similar" in kinds and not kinds & {"trigger", "own_name"}

    @property
    def is_clear(self) -> bool:
        """Whether the message names the work of another role: a clear word of its domain, and an object."""
        if not self.is_other or self.best is None:
            return False
        if self.signs.is_question and self.refers:
            return len(self.clear_words) >= 3
        # A fault in what was just made is reported like any other.
        if self.signs.is_statement and (self.signs.points_back or self.shared):
            return False
        stands_alone = len(self.own_objects) >= _MANY_OBJECTS and self.score >= (
            _STRONG_SCORE_OF_REFERENCE if self.refers else _STRONG_SCORE
        )
        if len(self.clear_words) >= 2 or stands_alone:
            return True
        if self.signs.is_statement or self.signs.is_question:
            return False
        # `Fix the bug in parser.py` names its work and its object in full, although both are words of any task.
        in_full = not self.signs.points_back and len(self.supporting_words) >= 2
        if in_full and self.signs.content and self.score >= _STRONG_SCORE_OF_REFERENCE:
            return True
        if self.signs.points_back or self.shared:
            return bool(self.clear_words) and self.score >= _CERTAIN_SCORE
        names_work = bool(self.clear_words) or not (self.refers or self.only_resembles)
        return names_work and self.score >= _CLEAR_SCORE and len(self.own_objects) >= _OWN_OBJECTS

    @property
    def is_next(self) -> bool:
        """Whether the message names other work of the same role."""
        if self.best is None or self.is_other or self.signs.is_question or self.signs.is_statement:
            return False
        if self.signs.points_back or self.shared or len(self.own_objects) < _MANY_OBJECTS:
            return False
        return len(self.clear_words) >= 2 or self.best.score >= _STRONG_SCORE

    @property
    def is_same_object(self) -> bool:
        """Whether the message hands on what the task made, and does not begin something else."""
        return bool(self.shared) or (
            bool(self.signs.points_back) and len(self.own_objects) <= _OWN_OBJECTS + 1
        )

    @property
    def is_other_matter(self) -> bool:
        """Whether the message orders something that is the work of no role here."""
        if self.ranking.outcome == "role" or self.signs.points_back or self.shared:
            return False
        if len(self.own_objects) < _OWN_OBJECTS:
            return False
        return bool(read_request(self.message, self.index.names, self.index.terms).private)

    @property
    def is_resumed(self) -> bool:
        """Whether the message refers to a task that is over, and begins nothing else."""
        signs = self.signs
        if (
            not self.is_over
            or self.is_clear
            or self.is_next
            or signs.is_thanks
            or signs.is_talk
            or signs.stops
        ):
            return False
        return bool(self.refers)

    @property
    def is_over(self) -> bool:
        return is_over(self.task, self.now)

    @property
    def is_believed_other(self) -> bool:
        """Whether a tracker takes the message for work of another role, and nothing in it refers to the task."""
        if self.believed in (None, self.task.role_id) or self.best_id is not None:
            return False
        alone = len(self.own_objects) >= _MANY_OBJECTS and not self.refers
        return alone and not self.signs.is_statement and not self.signs.is_question


class TaskRule(NamedTuple):
    """A rule about a message after a task."""

    code: str
    effect: str
    """The effect, as in `Verdict`."""
    applies: Callable[[_Situation], bool]
    explain: Callable[[_Situation], str]


def _say_work(situation: _Situation) -> str:
    return say_why(situation.best) if situation.best is not None else "the message names no work"


def _say_refers(situation: _Situation) -> str:
    return f"`{situation.refers}` refers to it"


RULES: Final[Sequence[TaskRule]] = (
    TaskRule("ROLE_NAMED", "begin", lambda s: s.is_named, _say_work),
    TaskRule("SMALL_TALK", "pause", lambda s: s.signs.is_talk and not s.is_clear and not s.is_over and not s.shared, lambda _: IS_SMALL_TALK),
    TaskRule("TASK_CLOSED", "end", lambda s: s.signs.is_thanks and not s.is_over, lambda _: "the user is done with it"),
    TaskRule("TASK_STOPPED", "end", lambda s: s.signs.stops and not s.is_over, lambda _: "the user called it off"),
    TaskRule("SUBJECT_CHANGED", "begin", lambda s: s.signs.changes_subject and s.best is not None, _say_work),
    TaskRule("SUBJECT_CHANGED", "leave", lambda s: s.signs.changes_subject, lambda _: "the message announces another subject, and fits no role"),
    TaskRule("TASK_RESUMED", "keep", lambda s: s.is_resumed, _say_refers),
    TaskRule("TASK_OVER", "begin", lambda s: s.is_over and s.best is not None and (not s.is_other or s.is_clear), _say_work),
    TaskRule("TASK_OVER", "leave", lambda s: s.is_over, lambda _: "the last task is over, and the message names no work"),
    TaskRule("NEXT_TASK", "begin", lambda s: s.is_next, _say_work),
    TaskRule("SAME_ROLE", "keep", lambda s: s.best_id is not None and not s.is_other, lambda _: "the message is work of its role"),
    TaskRule("HANDED_ON", "move", lambda s: s.is_clear and s.is_same_object, _say_work),
    TaskRule("OTHER_WORK", "begin", lambda s: s.is_clear, _say_work),
    TaskRule("OTHER_MATTER", "leave", lambda s: s.is_other_matter, lambda _: "the message is about something that no role does"),
    TaskRule("ABOUT_THE_WORK", "keep", lambda s: bool(s.refers), _say_refers),
    TaskRule("SMALL_TALK", "pause", lambda s: s.ranking.outcome == "small_talk", lambda _: "the message is small talk or a general question"),
    TaskRule("TRACKER_BELIEVES", "begin", lambda s: s.is_believed_other, lambda s: f"the host's tracker takes it for work of {s.believed}"),
    TaskRule("NOTHING_NEW", "keep", lambda _: True, lambda _: "the message names no other work"),
)  # fmt: skip
"""The rules about a message after a task. The first one that applies decides."""


def judge_message(
    index: TextIndex,
    message: str,
    ranking: Ranking,
    task: Task,
    now: float,
    find_refusal: Callable[[str, str], str | None] = lambda _old, _new: None,
    believed: str | None = None,
) -> Verdict:
    """Decide what a message does to the task before it. Never raises.

    `ranking` is the ranking of the message by itself. `find_refusal` tells why the commander may not move a task from one role
    to another, None if the commander may. `believed` is the role that the host's tracker takes the message for.
    """
    situation = _Situation(index, message, ranking, task, now, believed)
    rule = next(rule for rule in RULES if rule.applies(situation))
    because = rule.explain(situation)
    effect, role_id = rule.effect, situation.best_id or believed
    if effect == "move":
        assert role_id is not None
        refusal = find_refusal(task.role_id, role_id)
        if refusal is not None:
            return _keep(task, message, now, "MOVE_REFUSED", f"{refusal}, although {because}")
        return Verdict(
            rule.code,
            effect,
            role_id,
            f"{because}, on what {_name(task)} made",
            begin_task(role_id, message, now)._replace(texts=_add_text(task, message)),
        )
    if effect == "keep":
        return _keep(task, message, now, rule.code, because)
    if effect == "begin":
        assert role_id is not None
        return Verdict(rule.code, effect, role_id, because, begin_task(role_id, message, now))
    if effect == "pause":
        text = f"{because}, and {_name(task)} waits"
        return Verdict(rule.code, effect, task.role_id, text, task._replace(state=PAUSED, last=now))
    if effect == "end":
        text = f"{_name(task)} is over, because {because}"
        return Verdict(rule.code, effect, None, text, task._replace(state=ENDED, last=now))
    return Verdict(rule.code, effect, None, because, task._replace(state=ENDED))


def find_move_refusal(
    old: str,
    new: str,
    list_superiors: Callable[[str], Sequence[str]],
    may_hand_off: Callable[[str, str], bool],
) -> str | None:
    """The commander who may not hand a task of one role to another. None if one may, directly or through the superiors of the
    other role, or if the task moves up. `list_superiors` lists the superiors of a role, nearest first.
    """
    above = [old, *list_superiors(old)]
    if new in above:
        return None
    below = [new]
    for superior in list_superiors(new):
        if superior in above:
            path = [superior, *reversed(below)]
            handed = may_hand_off(superior, new) or all(may_hand_off(*hop) for hop in pairwise(path))
            return None if handed else superior
        below.append(superior)
    return above[-1]


def is_over(task: Task, now: float) -> bool:
    """Whether a task has ended, by the user's word or by silence."""
    return task.state == ENDED or (task.last is not None and now - task.last > SILENCE)


def begin_task(role_id: str, message: str, now: float, domain: str | None = None) -> Task:
    """The task that a message begins."""
    return Task(role_id, (message[:MAX_TEXT_LENGTH],), now, now, domain)


def _keep(task: Task, message: str, now: float, code: str, because: str) -> Verdict:
    texts = _add_text(task, message)
    reason = f"this is still {_name(task)}, because {because}"
    return Verdict(code, "keep", task.role_id, reason, task._replace(texts=texts, last=now, state=OPEN))


def _add_text(task: Task, message: str) -> tuple[str, ...]:
    """The first message of a task, and its latest ones with this one."""
    return (task.texts[0], *(*task.texts[1:], message[:MAX_TEXT_LENGTH])[1 - MAX_TEXTS :])


def _name(task: Task) -> str:
    started = as_utc(task.started)
    return "the previous task" if started is None else f"the task of {started[11:16]} UTC"
