# SPDX-License-Identifier: Apache-2.0
"""Questions to a controller about its state, and what the answers mean; without DDS."""

from types import SimpleNamespace

import pytest
from lifecycle_msgs.msg import State, TransitionEvent

from robodyn_ros.control.feedforward.delivery import Delivery
from robodyn_ros.nodes.feedforward import target_watch

NAME = '/left/forward_effort_controller'
LIST = '/left/controller_manager/list_controllers'
STATE = f'{NAME}/get_state'


class Client:
    """A service that answers when the test says."""

    def __init__(self):
        self.ready, self.asked, self.given_up = False, [], 0

    def service_is_ready(self):
        return self.ready

    def call_async(self, request):
        return SimpleNamespace(add_done_callback=self.asked.append)

    def remove_pending_request(self, future):
        self.given_up += 1

    def answer(self, result, number=-1):
        self.asked[number](SimpleNamespace(result=lambda: result))


class Cell:
    """A node, the publisher of its commands, and the services it finds."""

    def __init__(self, clock, **options):
        self.clients, self.subscribers, self.changes = {}, 1, 0
        self._clock = clock
        publisher = SimpleNamespace(
            topic_name=f'{NAME}/commands', get_subscription_count=lambda: self.subscribers
        )
        self.watch = target_watch.TargetWatch(self, publisher, changed=self._on_change, **options)
        self.watch.joints = ('a', 'b')

    def create_client(self, _, service):
        return self.clients.setdefault(service, Client())

    def _on_change(self):
        self.changes += 1

    def later(self, seconds=0.6):
        self._clock[0] += seconds
        self.watch.tick()
        return self.watch


@pytest.fixture
def cell(clock, monkeypatch):
    monkeypatch.setattr(target_watch, 'ListControllers', SimpleNamespace(Request=lambda: None))
    return Cell(clock, ask=True)


def listed(state, *claimed, name='forward_effort_controller'):
    other = SimpleNamespace(name='joint_state_broadcaster', state='active', claimed_interfaces=[])
    own = SimpleNamespace(name=name, state=state, claimed_interfaces=claimed)
    return SimpleNamespace(controller=[other, own])


def told(label):
    return SimpleNamespace(current_state=State(label=label))


def event(label):
    return TransitionEvent(goal_state=State(label=label))


def test_the_controller_manager_says_state_and_claimed_interfaces(cell):
    assert set(cell.clients) == {LIST, STATE}
    for client in cell.clients.values():
        client.ready = True
    watch = cell.later()
    assert (
        not watch.refusal
        and 'is not known yet' in watch.waiting
        and watch.delivery is Delivery.UNKNOWN
    )
    assert not cell.clients[STATE].asked, 'one source is enough'
    for answer, delivery, problem in (
        (listed('active', 'a/effort', 'b/effort'), Delivery.DELIVERED, ''),
        (listed('active', 'a/effort'), Delivery.NOT_DELIVERED, 'hold the effort interface of b'),
        (listed('inactive'), Delivery.NOT_DELIVERED, f'{NAME} is not active (inactive)'),
        (listed('active', name='x'), Delivery.NOT_DELIVERED, 'is not active (not loaded)'),
        (listed('active', 'a/effort', 'b/effort'), Delivery.DELIVERED, ''),
    ):
        changes = cell.changes
        cell.clients[LIST].answer(answer)
        assert watch.delivery is delivery and problem in watch.problem
        assert bool(watch.refusal) == bool(problem) and cell.changes == changes + 1
        if problem:
            remedy = 'ros2 control switch_controllers --activate forward_effort_controller'
            assert remedy in watch.refusal
        cell.later()


def test_without_a_controller_manager_the_controllers_get_state_is_asked(cell):
    cell.clients[STATE].ready = True
    watch = cell.later()
    cell.clients[STATE].answer(told('inactive'))
    assert watch.problem == f'{NAME} is not active (inactive)'
    cell.later()
    cell.clients[STATE].answer(told('active'))
    assert watch.delivery is Delivery.DELIVERED and not watch.refusal


def test_where_nothing_answers_the_state_is_unknown_and_after_some_time_no_reason_to_wait(cell):
    watch = cell.later()
    assert not watch.refusal and 'is not known yet' in watch.waiting
    cell.later(target_watch.PATIENCE)
    assert not watch.waiting and watch.delivery is Delivery.UNKNOWN
    cell.clients[LIST].ready = True
    cell.later()
    assert not watch.refusal and 'is not known yet' in watch.waiting, 'an answer is on its way'


def test_answers_that_stay_away_make_the_state_unknown_and_are_given_up(cell):
    client = cell.clients[LIST]
    client.ready = True
    watch = cell.later()
    client.answer(listed('active', 'a/effort', 'b/effort'))
    for _ in range(4):
        assert cell.later().delivery is Delivery.DELIVERED
    assert len(client.asked) == 2, 'one question at a time'
    for _ in range(2):
        cell.later()
    assert watch.delivery is Delivery.UNKNOWN and not watch.problem
    assert client.given_up == 1 and len(client.asked) == 3
    client.answer(listed('inactive'), number=1)
    assert watch.delivery is Delivery.UNKNOWN, 'the answer to a question that was given up'


def test_a_transition_counts_at_once_and_more_than_an_answer_on_its_way(cell):
    client = cell.clients[LIST]
    client.ready = True
    watch = cell.later()
    client.answer(listed('active', 'a/effort', 'b/effort'))
    cell.later()
    watch.event(event('deactivating'))
    assert watch.problem == f'{NAME} is not active (deactivating)'
    client.answer(listed('active', 'a/effort', 'b/effort'))
    assert watch.problem, 'the answer is from before'
    watch.event(event('active'))
    assert watch.delivery is Delivery.DELIVERED and not watch.refusal


def test_a_topic_without_subscribers_reaches_nobody(cell):
    cell.clients[STATE].ready = True
    watch = cell.later()
    cell.clients[STATE].answer(told('active'))
    cell.subscribers = 0
    cell.later()
    assert watch.delivery is Delivery.NOT_DELIVERED
    assert f'{NAME}/commands has no subscriber, so commands reach no drive' in watch.refusal


def test_nothing_is_asked_or_refused_where_the_controller_is_not_to_be_checked(clock):
    cell = Cell(clock)
    assert not cell.clients
    for cell.subscribers, delivery in ((1, Delivery.UNKNOWN), (0, Delivery.NOT_DELIVERED)):
        watch = cell.later()
        assert watch.delivery is delivery and not watch.refusal and not watch.problem
    watch.event(event('inactive'))
    assert 'is not active' in watch.problem and not watch.refusal
