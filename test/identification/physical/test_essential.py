import numpy as np

from robodyn_ros.identification.factors.condense import JointFactor
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.physical.essential import essential

TRUE = np.array([2.0, 0.0, 0.5, 0.0, -1.0])


def factors(seed, noise=0.5, samples=400):
    """Two joints; the first does not feel the last column, columns 1 and 0 are nearly alike."""
    random = np.random.default_rng(seed)
    result = []
    for joint in range(2):
        matrix = random.normal(size=(samples, 5))
        matrix[:, 1] = 0.95 * matrix[:, 0] + 0.3 * matrix[:, 1]
        own = np.arange(5 if joint else 4)
        torque = matrix[:, own] @ TRUE[own] + noise * random.normal(size=samples)
        rows = np.column_stack([matrix[:, own], torque])
        result.append(JointFactor(own, np.linalg.qr(rows, mode='r'), samples))
    return result


def test_parameters_that_explain_only_noise_are_zero():
    right, others, better = 0, 0, []
    for seed in range(40):
        data = factors(seed)
        whole = estimate(data, 5)
        found = essential(data, whole)
        assert not {0, 2, 4} & set(found.left_out)
        right += len(found.left_out)
        others += 2
        assert not found.fit.values[list(found.left_out)].any()
        errors = [np.linalg.norm(fit.values - TRUE) for fit in (whole, found.fit)]
        better.append(errors[1] < errors[0])
    assert 0.85 < right / others < 1.0  # 5 % are kept by chance, each
    assert np.mean(better) > 0.8


def test_the_others_are_those_of_a_fit_without_them():
    data = factors(3)
    whole = estimate(data, 5)
    found = essential(data, whole)
    kept = np.setdiff1d(np.arange(5), found.left_out)
    fewer = [
        JointFactor(
            np.flatnonzero(np.isin(kept, f.columns)),
            f.triangle[:, [*np.flatnonzero(np.isin(f.columns, kept)), -1]],
            f.samples,
        )
        for f in data
    ]
    alone = estimate(fewer, len(kept))
    np.testing.assert_allclose(found.fit.values[kept], alone.values, rtol=1e-9)
    gone = list(found.left_out)
    shift = found.fit.values - whole.values
    np.testing.assert_allclose(found.fit.stddevs, np.hypot(whole.stddevs, shift))
    np.testing.assert_array_equal(shift[gone], -whole.values[gone])


def test_nothing_is_left_out_without_noise():
    data = factors(1, noise=1e-3)
    found = essential(data, estimate(data, 5))
    assert set(found.left_out) <= {1, 3}
