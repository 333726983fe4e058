# SPDX-License-Identifier: Apache-2.0
"""Topics `~/contact`, `~/wrench` and `~/contact_marker`: where and how hard a contact is."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Vector3, WrenchStamped
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from robodyn_ros.control.collision.contact import Contact
from robodyn_ros.control.collision.contact_watch import ContactWatch
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.msg import ContactEstimate
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.base.common import MONITOR_QOS, declare
from robodyn_ros.nodes.collision_monitor.inputs import Inputs


class ContactTopic:
    """Publisher of contacts, at most once per `contact_period`, after the state of the cycle.

    `~/contact` is published while there is a contact, and once when it has ended. `~/wrench` is
    published all the time if somebody subscribes: without a contact it is noise.
    """

    def __init__(self, node: Any) -> None:
        """Declare the parameters and create the publishers."""
        self._node = node
        self._tool = declare(
            node, 'contact_tool', '', 'link at whose origin the wrench is estimated; empty: the '
            'last link', read_only=True,
        )  # fmt: skip
        self._period = declare(
            node, 'contact_period', 0.02, 'shortest time between contact estimates [s]',
            read_only=True, minimum=0.002, maximum=1.0,
        )  # fmt: skip
        self._contacts = node.create_lifecycle_publisher(ContactEstimate, '~/contact', MONITOR_QOS)
        self._wrenches = node.create_lifecycle_publisher(WrenchStamped, '~/wrench', MONITOR_QOS)
        self._markers = node.create_lifecycle_publisher(Marker, '~/contact_marker', MONITOR_QOS)
        self._due = 0.0
        self._before = False
        self._message = 'no contact'

    def build(self, model: IdentifiedModel, _: ModelTorque, detector: TorqueErrorDetector) -> None:
        """Prepare for a model."""
        self._watch = ContactWatch(model.model, detector, self._tool)
        self._before = False

    def publish(self, detector: TorqueErrorDetector, inputs: Inputs, stamp: Any) -> None:
        """Follow the detector, and publish if it is time."""
        watch, time = self._watch, now(self._node)
        watch.update()
        if time < self._due and watch.touched == self._before:
            return
        self._due = time + self._period
        ended = self._before and not watch.touched
        self._before = watch.touched
        listened = detector.settled and self._wrenches.get_subscription_count() > 0
        if not (watch.touched or ended or listened):
            return
        contact = watch.estimate(inputs.state.position) if detector.settled else None
        self._message = watch.describe(contact)
        if watch.touched or ended:
            self._contacts.publish(estimate_message(watch, contact, stamp, self._message))
        if ended and contact is None and watch.links is not None:  # data were lost: it is unknown
            gone = Marker(ns='contact', action=Marker.DELETE)
            gone.header.frame_id = watch.links.root
            self._markers.publish(gone)
        if contact is not None and watch.links is not None:
            self._wrenches.publish(wrench_message(contact, watch.links.root, stamp))
            if watch.touched or ended:
                self._markers.publish(
                    direction_marker(contact, watch.links.root, stamp, shown=watch.touched)
                )

    def details(self) -> dict[str, object]:
        """Return entries of the diagnostics."""
        return {'contact': self._message}


def estimate_message(
    watch: ContactWatch, contact: Contact | None, stamp: Any, text: str
) -> ContactEstimate:
    """Return the message of a contact, or of its end."""
    message = ContactEstimate(touched=watch.touched, message=text)
    message.header.stamp = stamp
    if contact is None or watch.links is None:
        message.confidence = float('nan')
        message.wrench, message.covariance = np.full(6, np.nan), np.full(36, np.nan)
        return message
    message.header.frame_id, message.tool = watch.links.root, watch.links.tool
    message.wrench = contact.wrench
    message.covariance = contact.covariance.ravel()
    message.observable = contact.observable
    if watch.touched:
        message.joint = watch.links.joints[contact.link]
        message.link = watch.links.links[contact.link]
        message.confidence = contact.confidence
        message.links = list(watch.links.links)
        message.probability = array('d', contact.probability.tolist())
    return message


def wrench_message(contact: Contact, frame: str, stamp: Any) -> WrenchStamped:
    """Return the wrench at the tool's origin, in axes of the root link."""
    message = WrenchStamped()
    message.header.frame_id, message.header.stamp = frame, stamp
    x, y, z, rx, ry, rz = contact.wrench.tolist()
    message.wrench.force = Vector3(x=x, y=y, z=z)
    message.wrench.torque = Vector3(x=rx, y=ry, z=rz)
    return message


def direction_marker(contact: Contact, frame: str, stamp: Any, *, shown: bool) -> Marker:
    """Draw the force as an arrow that ends at the tool, 1 m for 200 N; remove it if not shown."""
    marker = Marker(ns='contact', type=Marker.ARROW)
    marker.action = Marker.ADD if shown else Marker.DELETE
    marker.header.frame_id, marker.header.stamp = frame, stamp
    marker.pose.orientation.w = 1.0
    marker.scale = Vector3(x=0.02, y=0.04, z=0.0)  # shaft and head in [m]
    marker.color = ColorRGBA(r=1.0, g=0.2, b=0.1, a=1.0)
    start = contact.place - contact.wrench[:3] / 200.0
    marker.points = [Point(x=x, y=y, z=z) for x, y, z in (start.tolist(), contact.place.tolist())]
    return marker
