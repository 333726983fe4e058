# SPDX-License-Identifier: Apache-2.0
"""A result as text for a terminal."""

from __future__ import annotations

import math
import textwrap

import numpy as np

from robodyn_ros.identification.fit.torque_errors import FitReport, relative_error
from robodyn_ros.identification.physical.named_parameters import NamedParameters, Status, classify
from robodyn_ros.identification.result.facts import by_importance
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.identification.result.summary import WIDTH, joint_table, mass_text
from robodyn_ros.identification.result.weighted import Weighted

MEANING: dict[Status, str] = {
    'identified': 'identified on its own',
    'combination': 'not identifiable alone, chosen by the completion rule',
    'prior': 'not identifiable alone, the given prior',
    'unseen': 'not identifiable without payload',
    'given': 'given, not identified',
    'absent': 'this robot has none',
    'impossible': 'negative, which no robot has',
}
"""Text in the report for each status of a parameter."""


def text_report(result: IdentificationResult) -> str:
    """Lay a result out for reading: verdict, torque errors per joint, parameters, findings."""
    report = result.identification
    if not result.has_estimate:
        lines = ['identification FAILED', f'recording         {report.source}']
        return '\n'.join([*lines, f'samples           {result.raw_samples}', *_findings(result)])
    cutoff = 'none' if result.filter_cutoff is None else f'{result.filter_cutoff:.4g} Hz'
    lines = [
        f'identification {"succeeded" if result.success else "FAILED"}',
        f'date              {result.date}',
        f'recording         {report.source}',
        f'samples           {report.samples} of {result.raw_samples} used',
        f'low pass          {cutoff}',
        f'estimator         {result.estimator}, {len(result.base_values)} base parameters',
        f'condition number  {result.condition_number:.4g} '
        f'({result.condition_number_scaled:.4g} with scaled columns)',
        f'held-out error    {_percent(result.weighted.error)} '
        f'(plain least squares: {_percent(result.weighted.plain)})',
        f'physical          {"yes" if result.physically_consistent else "no"}',
        *([f'mass              {masses}'] if (masses := mass_text(result.facts)) else []),
        f'inertials         {result.verdict.inertials.text}',
        *(
            [f'payload           {result.verdict.payload.text}', f'base              {base}']
            if result.verdict.payload is not None and (base := result.facts.get('base_result'))
            else []
        ),
        '',
        *(line for row in joint_table(result.verdict) for line in _wrap(row)),
        '',
        *_errors('identification', report, result),
    ]
    if len(result.recordings) > 1:
        lines += [
            f'  {_percent(each.relative_residual)} on {each.source}' for each in result.recordings
        ]
    if result.validation is not None:
        lines += ['', *_errors('validation', result.validation, result)]
    lines += ['', *_candidates(result.weighted), *_softmc_lines(result.named), *_base(result), '']
    lines += _residual(result)
    if result.completion_rule:
        lines += [*_wrap(result.completion_rule), '']
    return '\n'.join([*lines, *_findings(result)])


def _findings(result: IdentificationResult) -> list[str]:
    texts = [finding.line for finding in by_importance(result.findings)] or ['no findings']
    return [line for text in texts for line in _wrap(text)]


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent='  ', break_long_words=False)


def _errors(title: str, report: FitReport, result: IdentificationResult) -> list[str]:
    """Return torque errors per joint, RMS ones and those of softMC's result file (REC)."""
    joints = result.model.joints
    errors = relative_error(report, result.model)
    width = max(5, *(len(joint.name) for joint in joints))
    lines = [
        f'{title}: relative residual {_percent(report.relative_residual)} ({report.source})',
        f'{"joint":<{width}}  {"moving":>8}  {"threshold":>12}  {"RMS error":>12}  '
        f'{"error":>9}  {"REC max":>10}  {"REC mean":>10}',
    ]
    for row, joint in enumerate(joints):
        measured = report.rms_error[row] > 0.0
        rms = f'{report.rms_error[row]:.4g} {joint.torque_unit}' if measured else '-'
        threshold, upper = report.velocity_threshold[row], report.upper_velocity_threshold[row]
        speeds = f'{threshold:.3g}' + (f'..{upper:.3g}' if math.isfinite(upper) else '')
        lines.append(
            f'{joint.name:<{width}}  {report.moving_samples[row]:>8}  '
            f'{speeds:>12}  {rms:>12}  '
            f'{_percent(errors[row]) if measured else "-":>9}  '
            f'{_percent(report.max_relative_torque_error[row]):>10}  '
            f'{_percent(report.mean_relative_torque_error[row]):>10}'
        )
    return lines


def _candidates(weighted: Weighted) -> list[str]:
    """Return the candidates that count, with their weights and held-out errors."""
    shown = weighted.counted
    if len(weighted.candidates) < 2:
        return []
    width = max(len(each.name) for each in shown)
    lines = [f'{f"mean of {len(weighted.candidates)} candidates":<{width}}  {"weight":>6}  error']
    lines += [f'{each.name:<{width}}  {each.weight:>6.1%}  {each.error:.2%}' for each in shown]
    return [*lines, '']


def _residual(result: IdentificationResult) -> list[str]:
    """Return the RMS errors without and with the torque that the gear deflection explains."""
    residual = result.residual
    if residual is None:
        return []
    pairs = [(residual.without, result.identification)]
    if residual.validation_without is not None and result.validation is not None:
        pairs.append((residual.validation_without, result.validation))
    names = [joint.name for joint in result.model.joints]
    width = max(5, *(len(name) for name in names))
    title = ''.join(f'  {word:>24}' for word in ('identification', 'validation')[: len(pairs)])
    lines = [
        f'residual torque ({residual.torque.kind} over {", ".join(residual.torque.inputs)}): '
        'RMS error without and with it',
        f'{"joint":<{width}}{title}',
    ]
    for row, name in enumerate(names):
        cells = [
            f'{without.rms_error[row]:.4g} -> {with_it.rms_error[row]:.4g}'
            for without, with_it in pairs
        ]
        lines.append(f'{name:<{width}}' + ''.join(f'  {cell:>24}' for cell in cells))
    return [*lines, '']


def _softmc_lines(named: NamedParameters | None) -> list[str]:
    """Return the parameters of the softMC document, in its order."""
    if named is None:
        return []
    lines = [f'{"value":>12}  {"std. dev.":>10}  {"unit":<10} dynamic parameter']
    rows = zip(named.values, named.stddevs, named.units, named.names, named.status, strict=True)
    for number, (value, stddev, unit, name, status) in enumerate(rows, start=1):
        size = '-' if math.isnan(value) else f'{value:.5g}'
        spread = '-' if math.isnan(stddev) else f'{stddev:.3g}'
        known = classify(np.array([value]), np.array([stddev]))[0]
        known = known if status == 'identified' else MEANING[status]
        known = '' if known == 'determined' else f'  ({known})'
        lines.append(f'{size:>12}  {spread:>10}  {unit:<10} {number} {name}{known}')
    return [*lines, '']


def _base(result: IdentificationResult) -> list[str]:
    """Return the base parameters with their standard deviations."""
    lines = [f'{"value":>12}  {"std. dev.":>10}  {"unit":<9} {"known":<14} base parameter']
    for value, stddev, unit, expression, known in zip(
        result.base_values,
        result.base_stddevs,
        result.base_units,
        result.base_expressions,
        result.base_status or classify(result.base_values, result.base_stddevs),
        strict=True,
    ):
        spread = 'unseen' if math.isnan(stddev) else f'{stddev:.3g}'
        shown = expression if len(expression) <= 57 else f'{expression[:54]}...'
        lines.append(f'{value:>12.5g}  {spread:>10}  {unit:<9} {known:<14} {shown}')
    return lines


def _percent(value: float) -> str:
    return '-' if math.isnan(value) else f'{100.0 * value:.2f} %'
