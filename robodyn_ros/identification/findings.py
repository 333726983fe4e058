"""Table of the findings of an identification: severity, text and remedy of each code.

The page docs/findings.md is made from it (`python -m tools.finding_page`).
"""

from __future__ import annotations

from dataclasses import dataclass

from robodyn_ros.recording.finding import Finding, Severity


@dataclass(frozen=True)
class Entry:
    """Wording of a finding.

    :param severities: the usual severity first
    :param text: what was observed, with value and limit; a template for `str.format`
    :param remedy: what the user can do; a template too; empty where nothing has to be done
    """

    severities: tuple[Severity, ...]
    text: str
    remedy: str = ''


def finding(
    key: str, joint: str = '', severity: Severity | None = None, **values: object
) -> Finding:
    """Build a finding from the table.

    :param key: of `FINDINGS`
    :param joint: name of the joint, where the finding is about one
    :param severity: one of those in the table; None: the usual one
    :param values: fields of the templates
    :raises KeyError: the table has no such key, or a field has no value
    :raises ValueError: the table does not list this severity
    """
    entry = FINDINGS[key]
    severity = severity or entry.severities[0]
    if severity not in entry.severities:
        raise ValueError(f'{key} cannot be of severity {severity}')
    parts = (entry.text, entry.remedy) if entry.remedy else (entry.text,)
    text = ' '.join(part.format(joint=joint, **values) for part in parts)
    return Finding(code_of(key), text, joint, severity)


def code_of(key: str) -> str:
    """Return the code of a key: several wordings can belong to one code."""
    return key.partition('.')[0]


_INFO: tuple[Severity, ...] = ('info',)
_WARNING: tuple[Severity, ...] = ('warning',)
_ERROR: tuple[Severity, ...] = ('error',)
_WARNING_OR_ERROR: tuple[Severity, ...] = ('warning', 'error')

COMPARED = (
    ' On held-out parts of the recording its error is {:.2%} of the torque, that of the '
    'unconstrained estimate {:.2%}.'
)
"""Sentence on held-out errors, for the findings `estimate_chosen`."""

UNDETERMINED = ' The weight of the prior is not determined by this recording: {}.'
"""Sentence on doubts, for the same."""

PRIORS = {
    'urdf': 'regularised towards the URDF with weight {weight:.0e}',
    'ridge': 'regularised towards a plain prior',
    'none': 'without prior',
}
"""Prior of an estimate, for the findings `estimate_chosen`."""

FINDINGS = {
    # Signals
    'interpolated': Entry(
        _INFO,
        'Time stamps are not equally spaced: the signals were interpolated to {rate:.6g} Hz. '
        '{gaps} of {samples} samples lie in gaps and were not used.',
    ),
    'long_recording': Entry(
        _INFO,
        'The recording of {samples} samples was processed in segments. Parameters and errors '
        'come from all segments. Time offsets, friction laws, the diagnosis and the exported '
        'signals come from the segment from {start:.6g} s to {end:.6g} s.',
    ),
    'frozen_joint': Entry(
        _WARNING,
        'joint {joint}: its position changes by {stroke:.3g} only, which is not distinguishable '
        'from noise. '
        'Its friction and its rotor are not identified, and its torque holds at this position '
        'only.',
        'Move this joint if the robot will.',
    ),
    'frozen_joint.stuck': Entry(
        _ERROR,
        'joint {joint}: its position does not change, but {error} of its torque cannot be '
        'explained by a joint at rest.',
        'Check its encoder signal.',
    ),
    'drives_off': Entry(
        _WARNING,
        '{samples} of {all} samples repeat all values of the sample before, some with zero torque '
        'of all joints (from {start:.6g} s to {end:.6g} s): the drives were off. These samples '
        'were not used.',
        'Stop the recording before the drives are switched off.',
    ),
    'held_samples': Entry(
        _INFO,
        '{samples} of {all} samples repeat all values of the sample before (from {start:.6g} s to '
        '{end:.6g} s). They are no measurements and were not used.',
    ),
    'no_motion': Entry(
        _ERROR,
        'No joint moves: the largest stroke is {stroke:.3g}, which is not distinguishable from '
        'the noise and the steps of the encoders.',
        'Start the recording before the motion.',
    ),
    'zero_torque': Entry(
        _ERROR,
        'joint {joint}: its torque is {value:g} in all samples, so it is not measured. The other '
        'joints are identified without its equations.',
        'Check its effort signal.',
    ),
    'constant_torque': Entry(
        _ERROR,
        'joint {joint}: its torque is {value:.6g} in all samples, so it is not measured. The '
        'other '
        'joints are identified without its equations.',
        'Check its effort signal.',
    ),
    'too_fast_for_semi_static': Entry(
        _WARNING,
        'joint {joint}: its speed is above the upper velocity threshold of {limit:g} in '
        '{share:.0%} of the recording. These samples are not used.',
        'Move the joint more slowly.',
    ),
    'stale_joint': Entry(
        _WARNING_OR_ERROR,
        'joint {joint}: its position is stale in {share:.1%} of the recording, and in {used:.1%} '
        'of the samples in use (error above {limit:.0%}). It repeats and then jumps, {count} '
        'times, for up to {longest:.3g} s.',
        'Look for lost or late messages of its drive, or read the drive at the rate at which it '
        'measures.',
    ),
    'time_offset': Entry(
        _INFO,
        'joint {joint}: its torque comes {offset:.2f} ms ({samples:.2f} samples) {direction} its '
        'motion. The torque was shifted back, also for validation. This removes {gain:.0%} of '
        'the squared residual of this joint.',
    ),
    'time_offset.kept': Entry(
        _INFO,
        'joint {joint}: its torque comes {offset:.2f} ms ({samples:.2f} samples) {direction} its '
        'motion. The offset was not corrected. A correction would remove {gain:.0%} of the '
        'squared residual of this joint.',
    ),
    'held_at_zero': Entry(
        _WARNING,
        '{parameters} came out negative, which no robot has, and are held at 0. The motion hardly '
        'excites them, or the model is not that of this robot.',
        'Use a richer motion, or another model.',
    ),
    # Amount of data, and what it determines
    'too_few_samples': Entry(
        _WARNING_OR_ERROR,
        'joint {joint}: {samples} independent moving samples, at least {needed} are needed for '
        'the {parameters} parameters that act on it.',
        'Record longer, or move faster.',
    ),
    'too_few_samples.payload': Entry(
        _ERROR,
        '{samples} independent moving samples, at least {needed} are needed to identify a '
        'payload.',
        'Record longer.',
    ),
    'too_few_samples.nothing': Entry(
        _ERROR,
        'No parameter of any joint ({joints}) could be identified: {reason}.',
        'Record longer, with all joints moving and their torques measured.',
    ),
    'rank_deficient': Entry(
        ('error', 'warning'),
        'The motion does not determine {missing} of {rank} parameter combinations. They act on '
        '{joints} and contain these parameters: {parameters}.',
        'Use a motion in which these joints move differently.',
    ),
    'ill_conditioned': Entry(
        _WARNING,
        'The motion hardly distinguishes some parameters: the condition number with scaled '
        'columns is {condition:.3g} (limit {limit:.0e}).',
        'Use a motion with more frequencies, or larger amplitudes.',
    ),
    'weakly_determined': Entry(
        _WARNING,
        'joint {joint}: the expected uncertainty of its torque on other motions is {share:.0%} '
        '(limit {limit:.0%}).',
        'Move the joint faster or farther.',
    ),
    # Estimate
    'outliers': Entry(
        _INFO,
        'Robust estimation ({loss}): at most {share:.1%} of the samples of a joint ({worst}) '
        'have an error above {limit:g} robust standard deviations.',
    ),
    'correlated_errors': Entry(
        _INFO,
        'The torque errors of joints {one} and {other} are correlated ({correlation:.2f}): the '
        'model probably lacks an effect that acts on both.',
    ),
    'friction_chosen': Entry(
        _INFO,
        'Friction law {law}: its coefficients were estimated from the recording.',
    ),
    'friction_chosen.automatic': Entry(
        _INFO,
        'Friction law {law} was selected from {count} laws. On held-out parts of the recording '
        'its error is {error:.3f} times that of the linear law. No law is better by more than '
        'one standard error (smallest: {smallest}).',
    ),
    'friction_chosen.undetermined': Entry(
        _INFO,
        'The friction law is not determined by this recording: {reason}. Law {law} is used.',
    ),
    'estimate_chosen.unconstrained': Entry(
        _INFO,
        'The unconstrained estimate is selected instead of the consistent one.{compared}',
    ),
    'estimate_chosen.consistent': Entry(
        _INFO,
        'The physically consistent estimate is selected, {prior}.{compared} Its relative residual '
        'is {residual:.2%}, unconstrained {unconstrained:.2%}.',
    ),
    'estimate_chosen.consistent_links': Entry(
        _INFO,
        'The links of the physically consistent estimate are selected, {prior}.{compared} '
        'Friction and rotor inertias were fitted again, rotor inertias and viscous friction '
        'without limits. The relative residual is {residual:.2%}, unconstrained '
        '{unconstrained:.2%}.',
    ),
    'estimate_chosen.ridge': Entry(
        _INFO,
        'The ridge estimate without constraints is selected, {prior}.{compared} Its relative '
        'residual is {residual:.2%}, unconstrained {unconstrained:.2%}.',
    ),
    'not_physically_consistent': Entry(
        _WARNING,
        '{reason}. No URDF is written; the torque of the result is not affected.',
    ),
    'not_physically_consistent.unconstrained': Entry(
        _WARNING,
        '{reason}: the unconstrained estimate is selected.',
    ),
    'not_physically_consistent.rotors': Entry(
        _WARNING,
        'No physically consistent robot explains the recording: {parameters} came out negative. '
        'The links are physically consistent, and a URDF can be written.',
        'Use these values for torques only.',
    ),
    'negative_friction': Entry(
        _INFO,
        '{parameters} came out negative, as a delayed torque can cause. The values fit this robot '
        'as it is measured, but do not brake it in a simulation.',
    ),
    'consistency_without_links': Entry(
        _WARNING,
        'The model has no links with masses and inertias: physical consistency does not apply '
        'to it, and the unconstrained estimate is selected.',
        'Remove the option.',
    ),
    'residual_torque': Entry(
        _INFO,
        'The deflection of the gears explains torque that the model does not contain ({kind} over '
        '{inputs}). The mean RMS error of the joints is {after:.3g} with it, {before:.3g} '
        'without.',
    ),
    'no_residual_torque': Entry(
        _INFO,
        'The deflection of the gears is not used: it explains no torque that the model lacks. Its '
        'error on other segments of the motion is {error:.0%} of that without it.',
    ),
    # Torque errors
    'relative_error_too_large': Entry(
        _ERROR,
        'joint {joint}: its largest torque error is {error} of its largest torque (limit '
        '{limit}; {source}).',
        'Correct what other findings name, record a faster motion, or raise --max-relative-error.',
    ),
    'relative_error_too_large.torque': Entry(
        ('error', 'warning'),
        'joint {joint}: the torque error of 99 % of the samples is up to {error} of its '
        'torque, or '
        'of {share:.0%} of its rated torque if that is larger (limit {limit}; {source}).',
        'Correct what other findings name, record a faster motion, or raise --max-relative-error.',
    ),
    'validation_too_short': Entry(
        _ERROR,
        'The model could not be tested on the validation recording: {reason}.',
        'Use a longer validation recording.',
    ),
    # Payload
    'payload_not_physical.body': Entry(
        _WARNING_OR_ERROR,
        'No body has the identified payload (mass {mass:.3g} kg).',
        'Check that the base result was identified on the same robot without payload, and that '
        'the torque unit is the same.',
    ),
    'payload_not_physical': Entry(
        _ERROR,
        "The payload's {parameter} is {value:.3g} {unit}, which no body has.",
        'Check that the base result was identified without payload.',
    ),
    'payload_not_physical.zero': Entry(
        _INFO,
        "The payload's {parameter} is {value:.3g} {unit}. It is 0 within its standard deviation "
        '{stddev:.3g}, and 0 is used.',
    ),
    'payload_contradicted': Entry(
        _WARNING,
        'The residual of the best rigid payload is {excess:.2f} times that of free parameters '
        '(limit {limit:.2f}): the arm may have changed since the base result was identified.',
        'Identify the arm without payload again.',
    ),
    'payload_partly_visible': Entry(
        _INFO,
        'The motion determines {rank} combinations of the payload parameters. Not determined '
        'separately: {parameters}.',
    ),
    'payload_partly_visible.shared': Entry(
        _WARNING,
        "The payload's {parameter} is not distinguishable from the payload's {other}, and 0 is "
        'used.',
        'Use a motion with other accelerations.',
    ),
    'payload_partly_visible.unseen': Entry(
        _WARNING,
        "The payload's {parameter} has no effect in this motion, and 0 is used.",
        'Use a motion with other accelerations.',
    ),
    'payload_products': Entry(
        _INFO,
        'Only what the payload adds to {parameters} is known.',
        'To get its mass, give {products} in "prior" of the model.',
    ),
    'payload_not_visible': Entry(
        _WARNING,
        'The payload is not visible in this motion: no parameter of it differs from 0 by more '
        'than {limit:g} standard deviations.',
        'Move faster, or move joints that lift the payload.',
    ),
    'payload_residual': Entry(
        _INFO,
        'The relative residual is {residual:.2%} with the payload and {without:.2%} without it.',
    ),
    'base_failed': Entry(
        _WARNING,
        'The base result {source} comes from a failed identification.',
        'Identify the arm without payload again.',
    ),
    # Diagnosis
    'cutoff_too_low': Entry(
        _WARNING_OR_ERROR,
        'joint {joint}: the low pass at {cutoff:g} Hz removes {share:.2%} of its motion (limit '
        '{limit:.1%}).',
        'Use a higher cut-off, or none to get the automatic one, {automatic:.3g} Hz.',
    ),
    'diagnosis_incomplete': Entry(
        _INFO,
        'The diagnosis was not completed: {reason}.',
    ),
    'torque_saturation': Entry(
        _ERROR,
        'joint {joint}: its torque stops at {level:.3g} {unit} in {share:.1%} of the samples, '
        'where the model fitted to the other samples reaches {beyond:.3g} {unit}. The drive or '
        'its measurement saturates.',
        'Move more slowly, or raise the limit.',
    ),
    'noise_as_large_as_signal': Entry(
        _WARNING,
        'joint {joint}: its residual of {residual:.3g} {unit} RMS (white noise {noise:.3g} '
        '{unit}) is of the order of its torque, {torque:.3g} {unit} RMS. Its relative error is '
        'large although its torque error is small.',
        'If there is no other error, the parameters can be used; --force-export (node: '
        'export_failed) writes them after a failed identification.',
    ),
    'little_torque': Entry(
        _WARNING,
        'joint {joint}: its residual of {residual:.3g} {unit} RMS (white noise {noise:.3g} '
        '{unit}) is large relative to its torque of {torque:.3g} {unit} RMS, which is small for '
        'this robot.',
        'If there is no other error, the parameters can be used.',
    ),
    'sensor_delay': Entry(
        _WARNING,
        'joint {joint}: its torque comes {delay:.2f} ms ({cycles:.1f} cycles) {direction} its '
        'position. A shift would reduce its squared residual by {gain:.0%}; it was not applied.',
        'Determine which signal is late, and shift it.',
    ),
    'sensor_delay.shifted': Entry(
        _WARNING,
        'joint {joint}: its torque comes {delay:.2f} ms ({cycles:.1f} cycles) {direction} its '
        'position. It was shifted for the fit, which reduces its squared residual by {gain:.0%}.',
        'Determine which signal is late.',
    ),
    'moving_too_slowly': Entry(
        _WARNING,
        'joint {joint}: it moves too slowly (at most {speed:.3g} {unit}/s). Inertia is '
        '{inertia:.1%} of its torque, the residual {residual:.1%}: its inertias are uncertain, '
        'and the torque of faster motions will be inaccurate.',
        'Use higher frequencies or larger amplitudes, close to the velocity limit.',
    ),
    'torque_sign': Entry(
        ('error', 'warning'),
        'joint {joint}: its torque seems to have the wrong sign: {evidence}.',
        'Change the sign of its torque factor (or of its position).',
    ),
    'torque_factor': Entry(
        ('error', 'warning'),
        'joint {joint}: its torque is {factor:.3g} (+- {spread:.2g}) times the torque of the '
        'prior masses of the model{causes}.',
        'Check its torque factor and unit, and the masses of the model.',
    ),
    'torque_factor.shared': Entry(
        _ERROR,
        'joint {joint}: its torque is {factor:.3g} times the torque that the other joints give '
        'for the parameters they share{alternatives}. The residual is {excess:.3g} times that of '
        'each joint alone, {corrected:.3g} with this factor{causes}.',
        'Check its torque factor and unit.',
    ),
    'wrong_dynamic_model': Entry(
        _ERROR,
        'The torques of all {count} joints that feel gravity have the opposite sign of the '
        'torques '
        'of the prior masses of the model: the robot is mounted upside down.',
        'Give the direction of gravity, or change the signs of all torques.',
    ),
    'correction': Entry(
        ('error', 'warning'),
        'On held-out parts of the recording, a correction reduces the squared torque error to '
        '{share:.0%}: {flaw}.',
    ),
    'correction.spring': Entry(
        _WARNING,
        'On held-out parts of the recording, a correction reduces the squared torque error to '
        '{share:.0%}: {flaw}. Springs or balancers, which the model lacks, explain it as well.',
    ),
    'stuck_torque': Entry(
        _ERROR,
        'joint {joint}: its torque is {torque:.6g} from {start:.3f} s to {end:.3f} s, '
        'although the '
        'joint moves forth and back.',
        'Check its effort signal, and record again.',
    ),
    'disturbed_interval': Entry(
        _ERROR,
        'From {start:.3f} s to {end:.3f} s the torque does not follow the model of the other '
        'samples ({reason}). Without this interval their squared torque error is {share:.0%} of '
        'the present one.',
        'Remove this interval from the recording.',
    ),
    'delay_changes': Entry(
        _ERROR,
        'joint {joint}: its torque is late by {first:.3g} ms in the first half of the recording, '
        'and by {second:.3g} ms in the second.',
        'Determine which signal is late, and record again.',
    ),
    'positions_in_degrees': Entry(
        _ERROR,
        'joint {joint}: its position goes from {low:.4g} to {high:.4g}; the limits of the URDF '
        'are {lower:.4g} and {upper:.4g}{others}. As degrees, all positions lie within them.',
        'Convert the positions to radians.',
    ),
    'outside_limits': Entry(
        _WARNING,
        'joint {joint}: its position goes from {low:.4g} to {high:.4g}; the limits of the URDF '
        'are {lower:.4g} and {upper:.4g}{others}.',
        'Check the unit, the zero of the encoder and the URDF.',
    ),
    'too_short': Entry(
        _WARNING,
        'joint {joint}: it completes {done:.1f} cycles in {seconds:.3g} s{others}, at least '
        '{cycles:g} are needed for a model that holds beyond this recording.',
        'Record at least {longer:.3g} s, or use higher frequencies.',
    ),
    'region_too_small': Entry(
        _WARNING,
        'joint {joint}: it moves from {low:.3g} to {high:.3g} {unit}, {share:.0%} of its range '
        '({lower:.3g} to {upper:.3g} {unit}; at least {limit:.0%}). The model may hold in this '
        'region only.',
        'Use amplitudes that come close to the limits.',
    ),
    'joints_move_together': Entry(
        _WARNING,
        'Joints {other} and {joint} move together (correlation of position and velocity '
        '{correlation:.3f}, limit {limit:g}; pairs of joints: {pairs}). Their effects on each '
        'other are not distinguishable.',
        'Give them different frequencies, such as 1, 1.27, 1.43.',
    ),
    'motion_repeats': Entry(
        _WARNING,
        'The common motion of joints {other} and {joint} repeats every {period:.3g} s, after '
        '{count} cycles of the slower one (pairs of joints: {pairs}). It covers less of the '
        'workspace than it could.',
        'Use frequencies whose ratio repeats later, such as 1.1, 1.3, 1.5.',
    ),
}
"""Wording of each finding: by its code, or by `code.case` where a code has several wordings."""
