"""How a house behaves towards a client, written once: the same tests for the house in memory and for the real one."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.house import until
from tests.support.worlds import World

RULES = "demo-mississippi-stud"


class Client:
    """A client with ids of its own, and a new key for each command."""

    def __init__(self, world: World, unique: str) -> None:
        self.world = world
        self.table = f"/tables/table-{unique}"
        self.progressive_id = f"progressive-{unique}"
        self.progressive = f"/progressives/{self.progressive_id}"
        self.account = f"/accounts/account-{unique}"
        self.keys = (f"{unique}-{number}" for number in itertools.count())

    def ask(self, path: str, command: str, key: str | None = None, **fields: Any) -> tuple[int, Any]:
        return self.world.post(f"{path}/commands", {"command": command, **fields}, key or next(self.keys))

    def do(self, path: str, command: str, key: str | None = None, **fields: Any) -> Any:
        status, answer = self.ask(path, command, key, **fields)
        assert status == 200, answer
        return answer

    def open_round(self) -> None:
        self.do(self.progressive, "OpenProgressive", rules=RULES)
        table = {"game": "mississippi_stud", "seats": 6, "rules": RULES, "progressive_id": self.progressive_id}
        self.do(self.table, "OpenTable", **table)
        self.do(self.table, "OpenRound")

    def sees(self, path: str, **wanted: Any) -> None:
        """Waits until a read has these fields."""

        def there() -> bool:
            found = self.world.get(path) or {}
            return all(found.get(name) == value for name, value in wanted.items())

        until(f"{path} has {wanted}", there, self.world.patience_seconds)


class Behaviour:
    """The suite; whoever inherits it brings the `client`."""

    @pytest.fixture
    def client(self) -> Iterator[Client]:
        raise NotImplementedError

    def test_an_answer_has_the_sequence_and_what_happened(self, client: Client) -> None:
        client.open_round()
        answer = client.do(client.table, "PlaceWager", seat=2, wager="ante", amount_cents=700)
        assert answer["sequence"] == 3
        event = answer["events"][0]
        assert (event["event"], event["seat"], event["amount_cents"], event["hand"]) == (
            "WagerPlaced",
            2,
            700,
            "player",
        )

    def test_a_refusal_is_a_record_with_reason_and_section(self, client: Client) -> None:
        client.open_round()
        status, answer = client.ask(client.table, "ShowHand", seat=1, cards=["As", "Ad"])
        assert (status, answer["section"], answer["sequence"]) == (409, "655a.11(h)", 3)
        assert answer["refused"].endswith(".")
        client.sees(client.table, sequence=3)
        status, answer = client.ask(client.table, "OpenRound")
        assert (status, answer["section"]) == (409, None)

    def test_the_same_key_gives_the_same_answer_and_happens_once(self, client: Client) -> None:
        client.do(client.account, "OpenAccount", player_id="player-1")
        first = client.ask(client.account, "Deposit", key=f"{client.table[8:]}-d", amount_cents=500, reference="chips")
        again = client.ask(client.account, "Deposit", key=f"{client.table[8:]}-d", amount_cents=500, reference="chips")
        assert first == again and first[0] == 200
        client.sees(client.account, balance_cents=500, sequence=2)

    def test_a_refusal_is_repeated_too(self, client: Client) -> None:
        key = f"{client.table[8:]}-r"
        first = client.ask(client.account, "Withdraw", key=key, amount_cents=500, reference="out")
        client.do(client.account, "OpenAccount", player_id="player-1")
        client.do(client.account, "Deposit", amount_cents=500, reference="chips")
        assert client.ask(client.account, "Withdraw", key=key, amount_cents=500, reference="out") == first
        assert first[0] == 409
        client.sees(client.account, balance_cents=500)

    def test_the_same_key_for_something_else_is_malformed(self, client: Client) -> None:
        key = f"{client.table[8:]}-k"
        client.do(client.account, "OpenAccount", player_id="player-1")
        client.do(client.account, "Deposit", key=key, amount_cents=500, reference="chips")
        status, answer = client.ask(client.account, "Deposit", key=key, amount_cents=501, reference="chips")
        assert status == 422 and key in answer["malformed"]
        client.sees(client.account, balance_cents=500)

    def test_what_is_malformed_leaves_no_record(self, client: Client) -> None:
        client.open_round()
        for body in (b"{", b"[]", b'{"command": "OpenRound", "x": 1}', b'{"command": "Fold", "seat": true}'):
            status, answer = client.world.post(f"{client.table}/commands", body, next(client.keys))
            assert status == 422 and answer["malformed"].endswith(".")
        answer = client.do(client.table, "PlaceWager", seat=1, wager="ante", amount_cents=500)
        assert answer["sequence"] == 3

    def test_what_was_never_opened_is_not_there(self, client: Client) -> None:
        for path in (client.table, client.progressive, client.account, f"/rounds/{client.table[8:]}-1"):
            assert client.world.get(path) is None

    def test_a_reference_serves_once_for_ever(self, client: Client) -> None:
        client.do(client.account, "OpenAccount", player_id="player-1")
        client.do(client.account, "Deposit", amount_cents=500, reference="chips")
        assert client.ask(client.account, "Deposit", amount_cents=500, reference="chips")[0] == 409
        assert client.ask(client.account, "Withdraw", amount_cents=500, reference="chips")[0] == 409
        client.sees(client.account, balance_cents=500, sequence=4)

    def test_the_stake_is_held_and_comes_back_with_the_void(self, client: Client) -> None:
        client.open_round()
        client.do(client.account, "OpenAccount", player_id="player-1")
        client.do(client.account, "Deposit", amount_cents=100, reference="chips")
        client.do(client.table, "PlaceWager", seat=1, wager="ante", amount_cents=500)
        bonus = {"wager": "five_card_hand_bonus", "amount_cents": 100, "player_id": "player-1"}
        client.do(client.table, "PlaceWager", seat=1, account_id=client.account[10:], **bonus)
        client.sees(client.account, balance_cents=100, held_cents=100, available_cents=0)
        client.do(client.table, "VoidRound", reason="fire alarm")
        client.sees(client.account, balance_cents=100, held_cents=0, available_cents=100)
