# SPDX-License-Identifier: Apache-2.0
"""One page for a browser, with everything about one identification and nothing from outside."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn_ros.identification.files.next_steps import next_steps
from robodyn_ros.models.interface import Array, DynamicModel, Joint
from robodyn_ros.report import charts
from robodyn_ros.report.before_after import before_after
from robodyn_ros.report.coverage import coverage, list_limits
from robodyn_ros.report.frame import render_page
from robodyn_ros.report.friction import friction_curves
from robodyn_ros.report.links import links
from robodyn_ros.report.residuals import curves, residuals
from robodyn_ros.report.robot.view import robot_view
from robodyn_ros.report.source import ReportSignals, ReportSource
from robodyn_ros.report.verdict import group_findings, joint_errors, parameter_rows, verdict


def page_text(source: ReportSource) -> str:
    """Return the page as text of an HTML file."""
    data = _data(source)
    return render_page(
        'report.html.jinja',
        data,
        **_content(source),
        has_robot=data['robot'] is not None,
        has_curves=data['curves'] is not None,
        points=data['curves'] and data['curves']['points'],
    )


def _content(source: ReportSource) -> dict[str, Any]:
    """Return what the template shows, ready to be written."""
    facts = source.facts
    return {
        'joints': source.joints,
        'recording': facts['identification'].get('source', ''),
        'cutoff': facts.get('filter_cutoff'),
        'verdict': verdict(facts),
        'errors': joint_errors(facts),
        'findings': group_findings(facts),
        'parameters': parameter_rows(facts),
        'rule': facts.get('completion_rule', ''),
        'repeat': facts.get('repeat') or {},
        'next': _next(source),
        'facts': facts,
        'missing': source.missing,
        'gain': before_after(source, _reference(source)),
        'links': _links(source),
        **_drawings(source),
    }


def _next(source: ReportSource) -> list[tuple[str, str]]:
    """Return purpose and command of what follows; empty for a result that must not be used."""
    verdict = source.facts.get('verdict', {})
    words = verdict.get('feedforward', ['usable'])
    useless = {*words} == {'not usable'} or verdict.get('payload') == 'not usable'
    if source.result_file is None or useless:
        return []
    repeat = source.facts.get('repeat') or {}
    given = [str(repeat.get(key, '')) for key in ('robot', 'command')]
    return next_steps(source.result_file, *given)


def _links(source: ReportSource) -> list[dict[str, Any]]:
    if source.model is None or source.values is None or source.stddevs is None:
        return []
    return links(source.model, source.values, source.stddevs)


def _drawings(source: ReportSource) -> dict[str, Any]:
    """Return residuals, friction and coverage with their charts; empty without signals."""
    signals = source.signals
    drawings: dict[str, Any] = {'residuals': [], 'friction': [], 'coverage': []}
    if signals is None:
        return drawings
    every = residuals(signals, _joints(source))
    drawings['residuals'] = [
        (row, charts.histogram(row), charts.correlogram(row)) for row in every
    ]
    if source.model is not None:
        limits = source.facts.get('joint_limits') or list_limits(source.model)
        drawings['coverage'] = coverage(source.model, signals, limits)
        drawings['friction'] = [
            (row, charts.friction_chart(row)) for row in _friction(source, source.model, signals)
        ]
    return drawings


def _friction(
    source: ReportSource, model: DynamicModel, signals: ReportSignals
) -> list[dict[str, Any]]:
    if source.values is None:
        return []
    thresholds = [each or 0.0 for each in source.facts['identification']['velocity_threshold']]
    return friction_curves(model, source.values, signals, thresholds)


def _data(source: ReportSource) -> dict[str, Any]:
    signals, model = source.signals, source.model
    return {
        'limit': source.facts.get('max_relative_error_allowed') or 0.5,
        'curves': None if signals is None else curves(signals, _joints(source)),
        'robot': None
        if signals is None or model is None
        else robot_view(model, signals, _reference(source), _relative_errors(source)),
    }


def _relative_errors(source: ReportSource) -> list[float | None]:
    return list(source.facts['identification'].get('relative_error', ()))


def _reference(source: ReportSource) -> Array | None:
    """Return the torque that the errors of each joint are relative to, (n,); None: unknown."""
    report = source.facts['identification']
    pairs = zip(report['rms_error'], report.get('relative_error', ()), strict=False)
    reference = np.array([error / share if error and share else np.nan for error, share in pairs])
    return reference if len(reference) == len(source.joints) else None


def _joints(source: ReportSource) -> tuple[Joint, ...]:
    """Return the joints; without a model their units are taken to be those of rotary ones."""
    if source.model is not None:
        return source.model.joints
    return tuple(Joint(name) for name in source.joints)
