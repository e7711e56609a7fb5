"""Reads a whole log and says whether it holds: sequences, hashes, duplicates, partitions, and the archive beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from services.core.chain import GENESIS
from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, Stored, partition_of
from services.wire.records import CONTRACTS, Unreadable

HASH_BYTES = len(GENESIS)


@dataclass(slots=True)
class Verdict:
    """What was found in one log. A key that contradicts is not followed further."""

    stream: str
    records: int = 0
    keys: int = 0
    duplicates: int = 0
    archived: int = 0
    contradictions: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Archive:
    """The hashes that the archive has of one partition, and up to which offset it has read the log."""

    position: int
    hashes: dict[str, bytearray]
    broken: list[str]


class _Partition:
    """One partition as it is read. The hashes of a key stand one behind the other, from sequence 1."""

    def __init__(self, verdict: Verdict, partition: int, archive_end: int) -> None:
        self.verdict = verdict
        self.partition = partition
        self.archive_end = archive_end
        self.hashes: dict[str, bytearray] = {}
        self.below_archive_end: dict[str, int] = {}
        self.broken: set[str] = set()
        self._contract = CONTRACTS[verdict.stream]

    def take(self, stored: Stored) -> None:
        """Checks one record."""
        self.verdict.records += 1
        if stored.key in self.broken:
            return
        owner = partition_of(stored.key, PARTITIONS)
        if owner != self.partition:
            self._contradicts(stored, None, f"the key belongs to partition {owner}")
        try:
            record = self._contract.decode_record(stored.value)
        except Unreadable as error:
            return self._breaks(stored, None, f"no schema reads it ({error})")
        known = self.hashes.setdefault(stored.key, bytearray())
        last, own = len(known) // HASH_BYTES, sha256(stored.value).digest()
        if record.sequence <= last:
            self.verdict.duplicates += 1
            if known[(record.sequence - 1) * HASH_BYTES : record.sequence * HASH_BYTES] != own:
                self._breaks(stored, record.sequence, "another record with other bytes has that sequence")
            return None
        if record.sequence != last + 1:
            return self._breaks(stored, record.sequence, f"it comes after sequence {last}; a record is missing")
        if record.previous_hash != (bytes(known[-HASH_BYTES:]) or GENESIS):
            return self._breaks(stored, record.sequence, "it does not carry the hash of the record before it")
        known += own
        if stored.offset < self.archive_end:
            self.below_archive_end[stored.key] = record.sequence
        return None

    def compare(self, archive: Archive) -> None:
        """Checks that the archive has what the log has, up to where it has read."""
        say = self.verdict.contradictions.append
        for line in archive.broken:
            say(line)
        for key in sorted({*archive.hashes, *self.below_archive_end}):
            if key in self.broken:
                continue
            ours = self.hashes.get(key, b"")[: self.below_archive_end.get(key, 0) * HASH_BYTES]
            theirs = archive.hashes.get(key, b"")
            if ours == theirs:
                self.verdict.archived += len(theirs) // HASH_BYTES
                continue
            pairs = range(0, max(len(ours), len(theirs)), HASH_BYTES)
            first = next(at for at in pairs if ours[at : at + HASH_BYTES] != theirs[at : at + HASH_BYTES])
            why = (
                "is missing in the archive" if first >= len(theirs)
                else "is in the archive but not in the log" if first >= len(ours)
                else "has another hash in the archive"
            )  # fmt: skip
            say(
                f"{self.verdict.stream}/{key} sequence {first // HASH_BYTES + 1} (partition {self.partition}): it {why}"
            )

    def _breaks(self, stored: Stored, sequence: int | None, why: str) -> None:
        self.broken.add(stored.key)
        self._contradicts(stored, sequence, why)

    def _contradicts(self, stored: Stored, sequence: int | None, why: str) -> None:
        named = "" if sequence is None else f" sequence {sequence}"
        place = f"(partition {self.partition}, offset {stored.offset})"
        self.verdict.contradictions.append(f"{self.verdict.stream}/{stored.key}{named} {place}: {why}")


async def verify(kafka: Kafka, stream: str, archives: Mapping[int, Archive]) -> Verdict:
    """Reads a log from its beginning to its present end. Raises BrokerAway."""
    verdict = Verdict(stream)
    for (_, partition), (first, end) in sorted((await kafka.ends([stream])).items()):
        archive = archives.get(partition)
        checking = _Partition(verdict, partition, 0 if archive is None else archive.position)
        if first > 0:
            verdict.contradictions.append(
                f"{stream} (partition {partition}): the broker has nothing before offset {first}"
            )
        async for stored in kafka.read(stream, partition, first, end):
            checking.take(stored)
        verdict.keys += len(checking.hashes)
        if archive is not None:
            if archive.position > end:
                verdict.contradictions.append(
                    f"{stream} (partition {partition}): the archive stands at offset {archive.position},"
                    f" the log ends at {end}"
                )
            checking.compare(archive)
    return verdict


async def archives_of(pool: Any, reader: str, stream: str, table: str) -> dict[int, Archive]:
    """What the archive has of a log, by partition, as of one moment."""
    archives: dict[int, Archive] = {}
    async with pool.acquire() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        stood = await connection.fetch(
            "SELECT partition, position FROM readers WHERE reader = $1 AND topic = $2", reader, stream
        )
        for row in stood:
            archives[row["partition"]] = Archive(row["position"], {}, [])
        rows = connection.cursor(
            f"SELECT partition, key, sequence, hash FROM {table} WHERE stream = $1 ORDER BY key, sequence", stream,
            prefetch=5_000,
        )  # fmt: skip
        async for row in rows:
            archive = archives.setdefault(row["partition"], Archive(0, {}, []))
            known = archive.hashes.setdefault(row["key"], bytearray())
            if row["sequence"] != len(known) // HASH_BYTES + 1:
                if not archive.broken:
                    archive.broken.append(
                        f"{stream}/{row['key']} sequence {row['sequence']} (partition {row['partition']}):"
                        " the archive has nothing for the sequence before it"
                    )
                continue
            known += row["hash"]
    return archives
