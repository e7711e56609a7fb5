"""Who may ask for what: the roles of people and devices, and the roles that each command and each kind of read needs."""

from collections.abc import Mapping
from enum import StrEnum


class Role(StrEnum):
    """What somebody is in the house. A terminal stands for the players at it, a display for nobody."""

    DEALER = "dealer"
    FLOORPERSON = "floorperson"
    MANAGER = "manager"
    CAGE = "cage"
    AUDITOR = "auditor"
    TERMINAL = "terminal"
    DISPLAY = "display"


_DEALING = frozenset({Role.DEALER, Role.FLOORPERSON, Role.MANAGER})
_WAGERING = _DEALING | {Role.TERMINAL}
_FLOOR = frozenset({Role.FLOORPERSON, Role.MANAGER})
"""A floorperson or above."""
_PAYING = _FLOOR | {Role.CAGE}
_MANAGING = frozenset({Role.MANAGER})
_BANKING = frozenset({Role.CAGE, Role.MANAGER})

COMMANDS: Mapping[str, frozenset[Role]] = {
    # At a table. A floorperson may stand in for the dealer.
    "OpenTable": _FLOOR,
    "OpenRound": _DEALING,
    "PlaceWager": _WAGERING,
    "WithdrawWager": _WAGERING,
    "CloseBetting": _DEALING,
    "DealHands": _DEALING,
    "CountStub": _DEALING,
    "Bet": _WAGERING,
    "Fold": _WAGERING,
    "RevealCommunityCard": _DEALING,
    "RevealDealerHand": _DEALING,
    "DrawMagicCard": _DEALING,
    "DrawLuckyPosition": _DEALING,
    "RevealSixCardBonus": _DEALING,
    "RevealAllSixCard": _DEALING,
    "ShowHand": _DEALING,
    "ForfeitWagers": _DEALING,
    "ReplaceHand": _FLOOR,
    "VoidRound": _DEALING,
    "CloseRound": _DEALING,
    "CloseTable": _FLOOR,
    # At a progressive. 655a.11(i)(1)(iii), 639a.11(c)(5)(iii): a floorperson or above validates.
    "OpenProgressive": _MANAGING,
    "ValidatePayout": _FLOOR,
    "SignPayout": _PAYING,
    "DocumentPayout": _PAYING,
    "VoidSlip": _PAYING,
    "RejectPayout": _FLOOR,
    "PayPayout": _PAYING | {Role.DEALER},  # who pays from the table inventory
    "PayEnvy": _PAYING | {Role.DEALER},
    "ChangeParameters": _MANAGING,
    "ApproveParameters": _MANAGING,
    "DropParameters": _MANAGING,
    "CloseProgressive": _MANAGING,
    # At an account.
    "OpenAccount": _BANKING,
    "Deposit": _BANKING | {Role.TERMINAL},
    "Withdraw": _BANKING,
}

READS: Mapping[str, frozenset[Role]] = {
    "tables": frozenset(Role) - {Role.DISPLAY},
    "wagers": frozenset(Role) - {Role.DISPLAY},
    "progressive": frozenset(Role) - {Role.DISPLAY},
    "accounts": frozenset(Role) - {Role.DISPLAY, Role.DEALER},
    "backoffice": frozenset({Role.FLOORPERSON, Role.MANAGER, Role.CAGE, Role.AUDITOR}),
}
"""By the service that is read. What displays show is open to everybody."""


def why_not(name: str, roles: frozenset[Role], command: str) -> str | None:
    """Why somebody of these roles may not ask for a command, in a sentence; None where they may."""
    return _why_not(name, roles, command, COMMANDS[command])


def why_not_read(name: str, roles: frozenset[Role], service: str) -> str | None:
    """Why somebody of these roles may not read a service, in a sentence; None where they may."""
    return _why_not(name, roles, "this", READS[service])


def _why_not(name: str, roles: frozenset[Role], what: str, allowed: frozenset[Role]) -> str | None:
    return None if roles & allowed else f"{name} is {spoken(roles)}: {what} is for {spoken(allowed)}."


def spoken(roles: frozenset[Role]) -> str:
    """Roles as one says them: `a cage, a floorperson or a manager`."""
    listed = [f"{'an' if role[0] in 'aeiou' else 'a'} {role.value}" for role in sorted(roles)]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"
