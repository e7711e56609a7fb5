"""Logs as versions wrote them, each kept in a folder of `past/`: `python -m tests.wire.past` keeps this version's.

A folder is named by the day and the minute of its version's commit:

- `logs.tsv`: every record of every topic, in the order of its partition: topic, partition, the broker's time in
  milliseconds, key, and the stored bytes in base64
- `schema.binpb`: the schema of that version, a FileDescriptorSet
- `rules/`: the submissions that its house held
- `reads.yaml`: what the reads must answer, as the recorded rounds that were played say it, with their arithmetic

A folder is never changed. A later version adds its own beside them.
"""

import base64
import itertools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from services.core import accounts, jackpots
from services.core.chain import ProcessorId
from services.core.rules import RuleBook
from services.runtime.memory import MemoryHouse, Place
from services.runtime.stepping import Input
from services.runtime.submissions import load
from services.wire.records import CONTRACTS, Asked
from tests.support.playing import play, written
from tests.support.recorded import ROOT, ROUNDS
from tests.support.worlds import RULES, MemoryWorld

FOLDER = Path(__file__).with_name("past")
BUF = Path(sys.executable).with_name("buf")
KEPT = (
    "ms-account-declines", "ms-envy-stacks", "ms-five-card-bonus-500-for-1", "ms-held-wager-withdrawn",
    "ms-magic-and-lucky-without-a-hand", "ms-mega-then-a-share-of-it", "ms-refusals-on-the-way", "ms-six-card-bonus",
    "ms-talking-forfeits", "ms-two-hits-of-one-level", "ms-void-misdealt", "ms-void-street",
    "ms-closed-during-a-round", "ms-reject-payout", "ms-replace-hand-bonus-to-an-account",
    "ms-replace-hand-royal-was-a-flush",
    "cs-envy-stacks-and-never-for-the-dealers-hand", "cs-fold-keeps-bonus-and-envy",
    "cs-share-of-the-meter-counterclockwise-and-by-hand", "cs-void-returns-and-reverses",
    "cj-all-six-best-five-of-six", "cj-board-bonus-straight-beats-flush", "cj-lo-ball-seven-to-jack-high",
)  # fmt: skip
"""The recorded rounds that a version plays, as far as it has them: every game, every wager, and every kind of ending."""

PEOPLE_AND_ENDS = """\
# What no recorded round has: three people sign, a rate is changed by two, progressives end into each other, and a stake
# is given back. The meter starts from 1,000,000. Seat 1 wagers 100, of which 19 are shown and 1 is hidden, and wins
# all: 1,000,019. It goes on from 1,000,000 + 1 at 29 %: seat 1 wagers 100 again, 29 shown and 1 hidden.
people-and-ends:
- get: /progressives/progressive-people
  answers:
    state: open
    levels:
    - {name: meter, value_cents: 1000030, hidden_microcents: 1000000, rate_ppm: 290000, paid_cents: 1000019, hits: 1}
- get: /progressives/progressive-people/claims?round_id=table-people-1
  answers:
  - {seat: 1, wager: progressive, hand: royal_flush, amount_cents: 1000019, state: paid, slip_number: 1}
# It was to go into the next, which ends itself: so it goes on.
- get: /progressives/progressive-goes-on
  answers:
    state: open
    levels:
    - {name: meter, value_cents: 1000000, rate_ppm: 190000}
- get: /progressives/progressive-ends
  answers:
    state: closed
    transfer_to: progressive-people
    levels:
    - {name: meter, value_cents: 0, seeded_microcents: 0}
"""

STAKE_RETURNED = """\
# A stake of 100 was given back to an account that had nothing.
stake-returned:
- get: /accounts/account-stake
  answers: {player_id: ann, balance_cents: 100, held_cents: 0, available_cents: 100}
"""


@dataclass(frozen=True, slots=True)
class Past:
    """What a version left."""

    folder: Path

    @property
    def topics(self) -> dict[Place, list[Input]]:
        """Every topic, as the broker had it."""
        topics: dict[Place, list[Input]] = {}
        for line in (self.folder / "logs.tsv").read_text().splitlines():
            topic, partition, at_ms, key, value = line.split("\t")
            held = topics.setdefault((topic, int(partition)), [])
            held.append(Input(len(held), int(at_ms), key, base64.b64decode(value)))
        return topics

    @property
    def rules(self) -> Path:
        """The folder of its submissions."""
        return self.folder / "rules"

    @property
    def book(self) -> RuleBook:
        """Its submissions."""
        return load(self.rules)

    @property
    def reads(self) -> list[dict[str, Any]]:
        """Paths (`get`) and what must be answered there."""
        documents: dict[str, list[dict[str, Any]]] = yaml.safe_load((self.folder / "reads.yaml").read_text())
        return [read for reads in documents.values() for read in reads]

    @property
    def schema(self) -> FileDescriptorSet:
        """The schema that it wrote by."""
        return FileDescriptorSet.FromString((self.folder / "schema.binpb").read_bytes())


PASTS = tuple(Past(path) for path in sorted(FOLDER.iterdir()))
"""Every version that left something, the first one first."""


# Writing ---------------------------------------------------------------------------------------------


def people_and_ends(world: MemoryWorld) -> None:
    """What PEOPLE_AND_ENDS says, done."""
    house, numbers = world.house, itertools.count()
    meter, goes_on, ends = (f"progressive-{name}" for name in ("people", "goes-on", "ends"))

    def ask(key: str, actor: str, *commands: jackpots.Command) -> None:
        for command in commands:
            command_id = f"people-{next(numbers)}"
            records = house.ask("jackpots", key, command, actor, command_id, sha256(command_id.encode()).digest())
            assert type(records[-1].event).__name__ != "Refused", records[-1].event

    def tell(*bodies: dict[str, Any]) -> None:
        for body in bodies:
            status, answer = world.post("/tables/table-people/commands", body, f"people-{next(numbers)}")
            assert status == 200, answer

    for key in (meter, goes_on, ends):
        ask(key, "ruth", jackpots.OpenProgressive("demo-mississippi-stud"))
    ask(meter, "ruth", jackpots.ChangeParameters("meter", "slow days", rate_ppm=290_000))
    ask(meter, "omar", jackpots.ApproveParameters(1))
    ask(goes_on, "ruth", jackpots.ChangeParameters("meter", "slow days", rate_ppm=290_000))
    ask(goes_on, "ruth", jackpots.DropParameters(1, "the wrong meter"))
    wagers = (
        {"command": "OpenRound"},
        {"command": "PlaceWager", "seat": 1, "wager": "ante", "amount_cents": 500},
        {"command": "PlaceWager", "seat": 1, "wager": "progressive", "amount_cents": 100},
        {"command": "CloseBetting"},
        {"command": "DealHands"},
    )
    bet = {"command": "Bet", "seat": 1, "multiple": 1}

    def cards(*names: str) -> list[dict[str, Any]]:
        return [{"command": "RevealCommunityCard", "card": name} for name in names]

    tell(
        {"command": "OpenTable", "game": "mississippi_stud", "seats": 6, "rules": "demo-mississippi-stud",
         "progressive_id": meter},
        *wagers,
        bet, *cards("Qh"), bet, *cards("Jh"), bet, *cards("Th"),
        {"command": "ShowHand", "seat": 1, "cards": ["Ah", "Kh"]},
    )  # fmt: skip
    claim = "table-people-1.1.progressive"
    ask(meter, "vera", jackpots.ValidatePayout(claim))
    ask(meter, "omar", jackpots.SignPayout(claim))
    ask(meter, "ruth", jackpots.DocumentPayout(claim, "W-2G 0001", (jackpots.SignerBand(1_000_000, 3),)))
    ask(meter, "cage", jackpots.PayPayout(claim))
    tell(
        {"command": "CloseRound"},
        *wagers, {"command": "Fold", "seat": 1}, *cards("4c", "9d", "2s"),
        {"command": "ShowHand", "seat": 1, "cards": ["Jh", "3s"]}, {"command": "CloseRound"},
    )  # fmt: skip
    # Both are asked before either is answered.
    rules = house.fold("jackpots", meter)
    for key, to in ((goes_on, ends), (ends, meter)):
        command = jackpots.CloseProgressive(to, rules.rules, rules.rules_sha256)
        asked = Asked(f"people-{next(numbers)}", "ruth", sha256(key.encode()).digest(), command)
        house.append("jackpot-commands", key, CONTRACTS["jackpots"].encode_command(asked))
    house.run()


def stake_returned(world: MemoryWorld) -> None:
    """What STAKE_RETURNED says, done. As `wagers` asks it, of a table that there is not."""
    opening = {"command": "OpenAccount", "player_id": "ann"}
    assert world.post("/accounts/account-stake/commands", opening, "stake-1")[0] == 200
    asked = accounts.ReturnStake(100, "table-stake-1", 1, "five_card_hand_bonus")
    world.house.ask("accounts", "account-stake", asked, "wagers", str(ProcessorId("wagers", "table-stake", 1, 0)))


def _reads(path: Path, unique: str) -> str:
    """The reads of a recorded round as they are written, behind the sentences at its head."""
    text = path.read_text()
    for prefix in ("table-", "progressive-", "account-"):
        text = text.replace(prefix, f"{prefix}{unique}-")
    head = "".join(itertools.takewhile(lambda line: line.startswith("#"), text.splitlines(keepends=True)))
    return f"{head}{path.stem}:\n{text.partition('then:' + chr(10))[2]}"


def _lines(house: MemoryHouse) -> Iterator[str]:
    for (topic, partition), held in sorted(house.topics.items()):
        for item in held:
            stored = base64.b64encode(item.value).decode()
            yield f"{topic}\t{partition}\t{item.at_ms}\t{item.key}\t{stored}\n"


def keep(folder: Path) -> None:
    """Plays, and writes down what came of it."""
    world = MemoryWorld()
    reads = []
    for number, path in enumerate(path for path in ROUNDS if path.stem in KEPT):
        play(world, written(path, f"p{number}"), f"p{number}")
        reads.append(_reads(path, f"p{number}"))
    people_and_ends(world)
    stake_returned(world)
    folder.mkdir()
    (folder / "logs.tsv").write_text("".join(_lines(world.house)))
    (folder / "reads.yaml").write_text("\n".join([*reads, PEOPLE_AND_ENDS, STAKE_RETURNED]))
    build = [BUF, "build", "--as-file-descriptor-set", "--exclude-source-info", "--output", folder / "schema.binpb"]
    subprocess.run(build, cwd=ROOT, check=True)
    (folder / "rules").mkdir()
    for rules in RULES:
        for path in rules.glob("*.yaml"):
            shutil.copy(path, folder / "rules")


def main() -> None:
    """Keeps what this version writes. A version has one folder, and nothing in it is written twice."""
    describe = ["git", "show", "--no-patch", "--format=%cd", "--date=format:%Y-%m-%d-%H%M", "HEAD"]
    name = subprocess.run(describe, cwd=FOLDER, check=True, capture_output=True, text=True).stdout.strip()
    if (FOLDER / name).exists():
        sys.exit(f"{FOLDER / name} is there already, and what is kept is not changed.")
    keep(FOLDER / name)
    print(f"{FOLDER / name}: commit it.")


if __name__ == "__main__":
    main()
