# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.identification.fit.choice import HeldOut
from robodyn_ros.identification.friction import cutoff_choice
from robodyn_ros.identification.friction.cutoff_choice import Trial, choose_cutoff
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.cutoff import Cutoffs

OPTIONS = IdentifyOptions()


class Parts:
    """A recording at a cut-off; those tried are kept."""

    def __init__(self, cutoffs, tried):
        self.cutoffs, self.tried = cutoffs, tried
        if cutoffs is not None:
            tried.append(cutoffs.used)

    def at(self, cutoff):
        return Parts(self.cutoffs.at(cutoff), self.tried)


@pytest.mark.parametrize(
    ('cutoffs', 'power', 'spread', 'chosen'),
    [
        (Cutoffs(1.0, 5.0, 20.0), -2.0, 0.0, 20.0),  # up to the highest
        (Cutoffs(1.0, 20.0, 20.0), -2.0, 0.0, 20.0),
        (Cutoffs(1.0, 7.0, 20.0), -2.0, 0.0, 14.0),
        (Cutoffs(1.0, 20.0, 20.0), 2.0, 0.0, 5.0),  # down to a quarter
        (Cutoffs(8.0, 20.0, 20.0), 2.0, 0.0, 10.0),  # or the lowest
        (Cutoffs(11.0, 20.0, 20.0), 2.0, 0.0, 20.0),
        (Cutoffs(1.0, 20.0, 80.0), 0.01, 0.5, 20.0),  # no better by a standard error
        (Cutoffs(1.0, 20.0, 80.0), -0.01, 0.5, 20.0),
        (None, 2.0, 0.0, None),
    ],
)
def test_the_cutoff_of_the_smallest_held_out_error_is_taken(
    monkeypatch, cutoffs, power, spread, chosen
):
    def trial(model, parts, options):
        held_out = None
        if parts.cutoffs is not None:
            octaves = np.log2(parts.cutoffs.used / cutoffs.used)
            noise = np.exp(spread * octaves * np.linspace(-1.0, 1.0, 10))
            held_out = HeldOut((2.0 ** (power * octaves) * noise / noise.mean(),), (np.ones(10),))
        return Trial(parts, {}, held_out)

    monkeypatch.setattr(cutoff_choice.Trial, 'of', trial)
    tried = []
    found = choose_cutoff(None, Parts(cutoffs, tried), OPTIONS)
    assert (found.parts.cutoffs and found.parts.cutoffs.used) == chosen
    assert len(tried) <= 4
