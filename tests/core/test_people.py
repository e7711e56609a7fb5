"""Roles: every command of people names who may ask for it, and who may not is told for whom it is."""

from typing import get_args

import pytest

from services.core import accounts, jackpots, rounds
from services.core.people import COMMANDS, READS, Role, why_not, why_not_read
from services.flow import PORTS


def test_every_command_of_people_names_who_may_ask_for_it_and_no_other_does() -> None:
    asked = {each.__name__ for room in (rounds, jackpots, accounts) for each in get_args(room.PeopleCommand)}
    assert set(COMMANDS) == asked
    assert all(COMMANDS.values())


def test_every_service_names_who_may_read_it() -> None:
    assert set(READS) == set(PORTS)


@pytest.mark.parametrize(
    ("command", "roles"),
    [
        ("ValidatePayout", {"floorperson", "manager"}),
        ("RejectPayout", {"floorperson", "manager"}),
        ("ReplaceHand", {"floorperson", "manager"}),
        ("DocumentPayout", {"cage", "floorperson", "manager"}),
        ("ApproveParameters", {"manager"}),
        ("Deposit", {"cage", "manager", "terminal"}),
        ("ShowHand", {"dealer", "floorperson", "manager"}),
    ],
)
def test_a_command_is_for_its_roles_alone(command: str, roles: set[str]) -> None:
    assert {role.value for role in Role if why_not("somebody", frozenset({role}), command) is None} == roles


def test_one_role_of_several_is_enough() -> None:
    assert why_not("mia", frozenset({Role.AUDITOR, Role.MANAGER}), "OpenProgressive") is None


def test_who_may_not_is_told_for_whom_it_is() -> None:
    both = frozenset({Role.DEALER, Role.AUDITOR})
    assert why_not("ann", both, "SignPayout") == (
        "ann is an auditor or a dealer: SignPayout is for a cage, a floorperson or a manager."
    )
    assert why_not_read("screen", frozenset({Role.DISPLAY}), "backoffice") == (
        "screen is a display: this is for an auditor, a cage, a floorperson or a manager."
    )
