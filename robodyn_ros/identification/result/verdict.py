# SPDX-License-Identifier: Apache-2.0
"""Verdict on a result: what each joint, the links and a payload can be used for, and why not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, Literal, get_args

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.result.fingerprint import fingerprint

Word = Literal['not usable', 'with care', 'usable']
WORDS: tuple[Word, ...] = get_args(Word)
"""Worst first; the hash of a verdict has their places."""
Evidence = tuple[Word, str]
"""The best word that a fact leaves possible, and the fact."""
PURPOSES = ('feedforward', 'monitoring')

GOOD = 0.5
"""Share of `max_relative_error` (50 % of the torque) up to which an error leaves a joint usable.
The position controller has to make up for what the model does not explain, and its error is in
proportion to that: a quarter of the torque leaves a quarter of the error, half of it half."""
DOUBTFUL = 0.45
"""Share of the larger gravity torque by which that of the result and that of the URDF may differ,
and least ratio of the moving masses to those of the URDF, or its inverse. Grippers and rough
masses stay within it. Torque without gravity, a factor of 2, a zero off by 30 degrees do not."""
FELT = 0.125
"""Share of a joint's torque that such a difference must be: friction can hide a smaller one."""
PAYLOAD_ERROR = 0.1
"""Share of all torques that a payload leaves unexplained up to which it is usable; up to twice of
that with care, unless another arm explains them and the base result has less than half the error.
The mass takes up what it can of it, so that its error is of this order."""


@dataclass(frozen=True)
class Use:
    """Word for one purpose, and the reasons why it is not a better one."""

    word: Word = 'usable'
    reasons: tuple[str, ...] = ()

    @classmethod
    def of(cls, evidence: Iterable[Evidence]) -> Use:
        """Return the worst word of all facts, with the reasons for that word."""
        facts = [item for item in dict.fromkeys(evidence) if item[0] != 'usable']
        words: list[Word] = ['usable', *(word for word, _ in facts)]
        worst = min(words, key=WORDS.index)
        return cls(worst, tuple(text for word, text in facts if word == worst))

    @property
    def text(self) -> str:
        """The word and its reasons."""
        return f'{self.word}: {"; ".join(self.reasons)}' if self.reasons else self.word


@dataclass(frozen=True)
class JointVerdict:
    """Verdict on one joint.

    :param error: part of the torque that is not explained, in the fit; NaN: unknown
    :param other_error: the same on data that were not fitted, see `Verdict.tested`
    :param moved: False: the joint was idle
    :param expected: error to be expected on other motions; NaN: unknown
    """

    joint: str
    feedforward: Use
    monitoring: Use
    error: float = nan
    other_error: float = nan
    moved: bool = True
    expected: float = nan

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons why it is not usable for more: feed-forward asks for the most."""
        return self.feedforward.reasons

    @property
    def text(self) -> str:
        """Words and reasons, once where both purposes have the same word."""
        if self.feedforward.word == self.monitoring.word:
            return self.feedforward.text
        return f'feed-forward {self.feedforward.text}; monitoring {self.monitoring.text}'

    @property
    def works(self) -> bool:
        """True if the joint can be used for a purpose, at least with care."""
        return not self.feedforward.word == self.monitoring.word == 'not usable'


@dataclass(frozen=True)
class Verdict:
    """Verdict on a result.

    :param inertials: of the links, and so of the URDF
    :param payload: None: no payload was identified
    :param tested: data that were not fitted, for `other_error`; '': none
    """

    joints: tuple[JointVerdict, ...]
    inertials: Use
    payload: Use | None = None
    tested: str = ''

    @property
    def success(self) -> bool:
        """True if each moving joint, and the payload, can be used at least with care."""
        moving = [joint.works for joint in self.joints if joint.moved]
        return self._payload_works and bool(moving) and all(moving)

    @property
    def worth_writing(self) -> bool:
        """True if a moving joint, and the payload, can be used at least with care."""
        return self._payload_works and any(each.works for each in self.joints if each.moved)

    @property
    def _payload_works(self) -> bool:
        return self.payload is None or self.payload.word != 'not usable'

    def list_refused(self, purpose: str, allowed: Collection[str] = ()) -> dict[str, str]:
        """Return the joints that must not be used for a purpose, with the reasons.

        :param purpose: feedforward or monitoring
        :param allowed: names of joints that the user allows all the same
        :raises IdentificationError: one of them is no joint of the model
        """
        names = [each.joint for each in self.joints]
        unknown = [name for name in allowed if name and name not in names]
        if unknown:
            raise IdentificationError(
                f'allowed_joints: {unknown[0]!r} is no joint of the model, which has {names}'
            )
        uses = {each.joint: getattr(each, purpose) for each in self.joints}
        return {
            name: '; '.join(use.reasons)
            for name, use in uses.items()
            if use.word == 'not usable' and name not in allowed
        }

    def to_block(self) -> dict[str, Any]:
        """Return flat lists for result.yaml and result.json, one value per joint."""
        block: dict[str, Any] = {
            'joints': [each.joint for each in self.joints],
            'moved': [each.moved for each in self.joints],
            'error': [each.error for each in self.joints],
            'other_error': [each.other_error for each in self.joints],
            'expected_error': [each.expected for each in self.joints],
            'tested': self.tested,
        }
        for purpose in PURPOSES:
            uses = [getattr(each, purpose) for each in self.joints]
            block[purpose] = [use.word for use in uses]
            block[f'{purpose}_reasons'] = ['; '.join(use.reasons) for use in uses]
        for name, use in (('inertials', self.inertials), ('payload', self.payload)):
            if use is not None:
                block |= {name: use.word, f'{name}_reasons': '; '.join(use.reasons)}
        return block


def verdict_hash(block: Mapping[str, Any], model_hash: str) -> str:
    """Return the hash of the words of a block, which belong to one model."""
    words = [word for purpose in PURPOSES for word in block[purpose]]
    return fingerprint(model_hash, block['joints'], [WORDS.index(word) for word in words])


def make_unknown_verdict(joints: Sequence[str]) -> Verdict:
    """Return the verdict of a result that has none."""
    care = Use('with care', ('the result was written without a verdict',))
    return Verdict(tuple(JointVerdict(name, care, care) for name in joints), care)


def read_verdict(block: object, joints: Sequence[str], model_hash: str, name: str) -> Verdict:
    """Return the verdict of a result file.

    :param block: `verdict` in the block `identification`; None: of an earlier version
    :raises IdentificationError: it does not fit the model, or was changed
    """
    if block is None:
        return make_unknown_verdict(joints)
    try:
        facts = of_block(block)  # type: ignore[arg-type]
        fits = block['hash'] == verdict_hash(block, model_hash)  # type: ignore[index, arg-type]
    except (LookupError, TypeError, ValueError) as error:
        raise IdentificationError(
            f'{name}: the verdict is damaged ({type(error).__name__}: {error})'
        ) from error
    if [each.joint for each in facts.joints] != list(joints) or not fits:
        raise IdentificationError(
            f'{name}: the verdict does not fit its hash: the file was changed. To use a joint '
            f'that is not usable, name it in allowed_joints'
        )
    return facts


def of_block(block: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a block, see `Verdict.to_block`; an unknown number may be None.

    :raises LookupError, TypeError, ValueError: the block is damaged
    """

    def use(word: Any, reasons: Any) -> Use:
        if word not in WORDS:
            raise ValueError(f'{word!r} is none of {", ".join(WORDS)}')
        return Use(word, tuple(filter(None, str(reasons).split('; '))))

    names = block['joints']
    uses = [map(use, block[key], block[f'{key}_reasons']) for key in PURPOSES]
    every = block['error'], block['other_error'], block.get('expected_error', [nan] * len(names))
    error, other, expected = (
        [nan if each is None else float(each) for each in numbers] for numbers in every
    )
    rows = zip(names, *uses, error, other, map(bool, block['moved']), expected, strict=True)
    alone = {
        key: use(block[key], block[f'{key}_reasons'])
        for key in ('inertials', 'payload')
        if key in block
    }
    return Verdict(tuple(JointVerdict(*row) for row in rows), **alone, tested=str(block['tested']))
