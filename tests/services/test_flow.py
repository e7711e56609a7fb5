"""The path as data, held to the folders, the compose file, the code that writes, and what really flows."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from services.core.chain import processor_id
from services.flow import BY_NAME, DEAD_LETTERS, PORTS, STREAMS, Stream, command_topics, logs
from services.runtime.security import SettingWrong
from services.runtime.settings import settings_from
from services.wire.records import CONTRACTS
from tests.support.parts import KAFKA_IMAGE, POSTGRES_IMAGE
from tests.support.playing import play, written
from tests.support.worlds import PROCESSORS, MemoryWorld

ROOT = Path(__file__).parents[2]
SERVICES = ROOT / "services"
ROOMS = {"core", "par", "wire", "runtime"}
FILES = {"__init__.py", "__main__.py", "api.py", "processor.py", "projection.py", "schema.sql", "settings.py"}
OWN_FILES = {
    "backoffice": {
        "reconstruction.py", "command_line.py", "archive.py", "best_play.py", "desk.py", "figures.py",
        "forwarding.py", "letters.py", "operations.py", "par.py", "par_text.py", "printing.py", "rules_files.py", "sentences.py", "slips.py",
    },
    # A client of the HTTP APIs, nothing more: it has players and dealers, no log.
    "floor": {
        "calls.py", "dealer.py", "floorperson.py", "offers.py", "players.py", "round_in_hand.py", "shuffle.py",
        "strategies.py",
    },
}  # fmt: skip
WRITERS = {
    # The processor of a stream appends to its log; the commands that follow go where they are taken.
    ("runtime/processing.py", "self.stream.name"),
    ("runtime/processing.py", "topic"),
    ("runtime/processing.py", "DEAD_LETTERS"),
    # People's commands.
    ("runtime/desk.py", "self._topic"),
    # What people decide of letters, and letters that are sent back to the topic of commands from which they came.
    ("runtime/letters.py", "DEAD_LETTERS"),
    ("runtime/letters.py", "origin.topic"),
}


def service_folders() -> list[Path]:
    return sorted(path.parent for path in SERVICES.glob("*/__main__.py") if path.parent.name not in ROOMS)


def test_every_service_that_is_named_has_a_folder_and_the_other_way_round() -> None:
    assert {folder.name for folder in service_folders()} == {*PORTS, "floor"}
    assert {stream.service for stream in STREAMS} <= set(PORTS)


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
def test_the_processor_of_a_stream_stands_in_its_service(stream: Stream) -> None:
    processor = importlib.import_module(f"services.{stream.service}.processor").PROCESSOR
    assert processor.stream is stream
    assert (processor.observe is not None) == (processor.stream.input in BY_NAME)


def test_nobody_else_has_a_processor() -> None:
    writers = {path.parent.name for path in SERVICES.glob("*/processor.py")}
    assert writers == {stream.service for stream in STREAMS}
    assert len({stream.service for stream in STREAMS}) == len(STREAMS)


@pytest.mark.parametrize("folder", service_folders(), ids=lambda folder: folder.name)
def test_a_file_name_means_the_same_in_every_service(folder: Path) -> None:
    allowed = FILES | OWN_FILES.get(folder.name, set())
    names = {path.name for path in folder.iterdir() if path.suffix != ".html" and path.name != "__pycache__"}
    assert names <= allowed


@pytest.mark.parametrize("name", [name for name in PORTS if name != "backoffice"])
def test_a_service_runs_on_its_port_and_projects_its_own_log(name: str) -> None:
    definition = importlib.import_module(f"services.{name}.__main__").DEFINITION
    assert (definition.name, definition.port) == (name, PORTS[name])
    assert definition.stream.service == name
    assert definition.logs[0].topic == definition.stream.name
    assert (definition.forms is not None) == (definition.stream.commands is not None)


def test_topics_are_distinct_and_named_after_their_stream() -> None:
    topics = [*logs(), *command_topics(), DEAD_LETTERS]
    assert len(topics) == len(set(topics))
    for stream in STREAMS:
        assert stream.commands in (None, f"{stream.name.removesuffix('s')}-commands")
        assert stream.input == stream.commands or stream.input in logs()
        assert all(BY_NAME[target].commands is not None for target in stream.sends)


WATCHING = {"prometheus", "grafana"}
PASSWORD = re.compile(r"\$\{[A-Z]+_PASSWORD:\?")
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def test_the_compose_file_has_the_services_of_the_flow_and_what_they_need() -> None:
    assert set(COMPOSE) == {*PORTS, "front", "floor", "kafka", "postgres", *WATCHING}
    assert (COMPOSE["kafka"]["image"], COMPOSE["postgres"]["image"]) == (KAFKA_IMAGE, POSTGRES_IMAGE)


def test_every_part_of_the_compose_file_is_looked_after() -> None:
    built = [part["image"] for part in COMPOSE.values() if "build" in part]
    assert len(built) == len(set(built)), "an image that is built twice is another image each time"
    for name, part in COMPOSE.items():
        assert part["healthcheck"]["test"], f"{name}: nobody sees whether it is well"
        assert part["restart"] == "unless-stopped" and part["stop_grace_period"], name
        assert part["deploy"]["resources"]["limits"]["memory"], name
        for target, how in part.get("depends_on", {}).items():
            assert how["condition"] == "service_healthy", f"{name} does not wait until {target} is well"
        image = part["image"]
        assert ":" in image or image in built, f"{name}: {image} has no version"
        assert not image.endswith(":latest"), name


def test_any_number_of_instances_stands_behind_one_address() -> None:
    """Ports are published by the front alone: two containers cannot have one port."""
    assert COMPOSE["front"]["ports"] == [f"127.0.0.1:{port}:{port}" for port in PORTS.values()]
    lines = (ROOT / "deploy" / "front" / "haproxy.cfg").read_text().split("\nlisten ")[1:]
    fronts = {words.split()[0]: words for words in lines}
    assert set(fronts) == set(PORTS)
    for name, port in PORTS.items():
        assert f"bind :{port} " in fronts[name] and f" {name}:{port}\n" in fronts[name], name
        assert "ports" not in COMPOSE[name] and "container_name" not in COMPOSE[name]


@pytest.mark.parametrize("name", PORTS)
def test_the_compose_file_runs_a_service_on_its_port(name: str) -> None:
    service, port = COMPOSE[name], PORTS[name]
    assert service["command"] == ["python", "-m", f"services.{name}"]
    assert service["environment"]["ROUNDLOG_PORT"] == port
    assert "/readyz" in service["healthcheck"]["test"][-1]
    # What a service can not start without, and nothing that it does not know.
    given = {key: str(value) for key, value in service["environment"].items()}
    settings = settings_from({**given, "ROUNDLOG_RULES": "rules"}, name, 1)
    assert (settings.port, settings.kafka) == (port, "kafka:9092")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ROUNDLOG_CURRENCY", "$"),
        ("ROUNDLOG_CURRENCY", "usd"),
        ("ROUNDLOG_LOCALE", 'en"><script>'),
        ("ROUNDLOG_LOCALE", "de-DE-DE"),  # no browser takes it
        ("ROUNDLOG_PARAMETERS_IDLE_SECONDS", "0"),  # a link would be idle while it is played on
        ("ROUNDLOG_PARAMETERS_IDLE_SECONDS", "-1"),
        ("ROUNDLOG_PARAMETERS_IDLE_SECONDS", "soon"),
        ("ROUNDLOG_FEED_QUEUE_MAX", "0"),  # every display would be too slow
        ("ROUNDLOG_ANSWER_SECONDS", "0"),
        ("ROUNDLOG_ANSWER_SECONDS", "nan"),
        ("ROUNDLOG_PORT", "65536"),
    ],
)
def test_a_setting_that_nothing_can_work_with_is_refused_at_the_start(name: str, value: str) -> None:
    given = {"AUTH": "off", "ROUNDLOG_KAFKA": "kafka:9092", "ROUNDLOG_POSTGRES": "postgresql://postgres/roundlog"}
    settings = settings_from(given, "progressive", 1)
    assert (settings.currency, settings.locale) == ("USD", "en-US")
    with pytest.raises(SettingWrong, match=f"{name}=.*it must be"):
        settings_from({**given, name: value}, "progressive", 1)


def test_the_compose_file_says_how_the_floor_finds_the_services() -> None:
    told = COMPOSE["floor"]["environment"]
    found = {name: told[f"ROUNDLOG_FLOOR_{name.upper()}_URL"] for name in PORTS if name != "backoffice"}
    assert found == {name: f"http://front:{PORTS[name]}" for name in found}


def test_the_compose_file_holds_no_secret_and_publishes_nothing_to_the_world() -> None:
    for name, service in COMPOSE.items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
        for key, value in service.get("environment", {}).items():
            assert "PASSWORD" not in key or PASSWORD.match(str(value)), f"{name}: {key}"
    assert "USER roundlog" in (ROOT / "deploy" / "Dockerfile").read_text()


def test_the_brokers_of_compose_and_of_make_run_are_set_alike() -> None:
    lines = (ROOT / "deploy" / "kafka" / "server.properties").read_text().splitlines()
    written = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    told = {key: str(value) for key, value in COMPOSE["kafka"]["environment"].items()}
    for key, value in written.items():
        if "{" in value or key == "controller.quorum.voters":
            continue  # where it stands is its own
        assert told[f"KAFKA_{key.replace('.', '_').upper()}"] == value, key


# One writer per log --------------------------------------------------------------------------------------


def appends() -> Iterator[tuple[str, str]]:
    """Where something is appended to a topic: the file, and the words that name the topic."""
    for path in sorted(SERVICES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("kafka.append"):
                yield str(path.relative_to(SERVICES)), ast.unparse(node.args[0])


def test_only_processors_write_logs_and_only_apis_write_commands() -> None:
    assert set(appends()) == WRITERS, "a new writer: is the log still written by its processor alone?"
    assert "self._topic = stream.commands" in (SERVICES / "runtime" / "desk.py").read_text()


def test_one_file_has_a_producer() -> None:
    having = {path.name for path in SERVICES.rglob("*.py") if "AIOKafkaProducer" in path.read_text()}
    assert having == {"kafka.py"}


def test_what_flows_is_what_the_path_says() -> None:
    world, rounds = MemoryWorld(), ROOT / "tests" / "rounds"
    for name in ("ms-void-misdealt", "ms-five-card-bonus-500-for-1", "ms-closed-during-a-round"):
        play(world, written(rounds / f"{name}.yaml", name), name)
    flowed = set()
    for (topic, _), held in world.house.topics.items():
        taker = next((stream.name for stream in STREAMS if stream.commands == topic), None)
        for item in held if taker is not None else ():
            sent = processor_id(CONTRACTS[taker].decode_command(item.value).command_id)
            flowed |= {(sent.stream, taker)} if sent is not None else set()
    assert flowed == {(stream.name, target) for stream in STREAMS for target in stream.sends}
    assert {processor.stream.name for processor in PROCESSORS} == set(logs())
