"""The OpenAPI documents of the five services are true: whatever is sent, what comes back is what they say.

Requests are drawn from the documents themselves, well formed and not, always the same ones.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks
from schemathesis.config import SchemathesisConfig
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks as openapi_checks

from tests.support import parts
from tests.support.house import COMMAND_SERVICES, House
from tests.support.playing import play, written
from tests.support.worlds import HouseWorld

SERVICES = (*COMMAND_SERVICES, "backoffice")
EXAMPLES = 12
CHECKS = [
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
    openapi_checks.response_headers_conformance,
]
KNOWN = {
    "table_id": "table-o-1", "progressive_id": "progressive-o-2", "round_id": "table-o-1-1", "account_id": "account-o-1",
    "key": "table-o-1", "stream": "rounds", "rules": "demo-mississippi-stud", "command_id": "key-o-1", "slip_number": 1,
}  # fmt: skip
OPENED = {
    "t": {"command": "OpenRound"},
    "p": {"command": "OpenProgressive", "rules": "demo-mississippi-stud"},
    "a": {"command": "OpenAccount", "player_id": "player-1"},
}
PLAYED = Path(__file__).parents[1] / "rounds" / "ms-bonus-after-the-royal.yaml"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house with one round played, of which nothing else is asked."""
    with parts.broker() as broker, parts.database() as database:
        house = House(cast(Any, broker), cast(Any, database), database.dsn)
        house.start(*SERVICES)
        play(HouseWorld(house), written(PLAYED, "o"), "o")
        for path in ("/tables/table-o-1", "/progressives/progressive-o-2", "/accounts/account-o-1"):
            assert house.post(f"{path}/commands", OPENED[path[1]], KNOWN["command_id"]).status_code in (200, 409)
        yield house
        house.close()


def operations(house: House, service: str) -> dict[str, Any]:
    """The operations of a service by their names; feeds have no end, so they are not among them."""
    document = house.client.get(f"{house.url(service)}/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document, config=SchemathesisConfig())
    schema.config.update(base_url=house.url(service))
    found = {each.ok().label: each.ok() for each in schema.get_all_operations()}
    return {name: each for name, each in found.items() if "/events" not in name}


def test_every_path_says_what_it_may_answer(own: House) -> None:
    for service in SERVICES:
        document = own.client.get(f"{own.url(service)}/openapi.json").json()
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                said = set(operation["responses"])
                assert "200" in said, (service, method, path)
                if operation["tags"] != ["health"]:
                    assert "503" in said, (service, method, path)
                if method == "post":
                    assert {"202", "401", "403", "408", "409", "413", "422", "503"} <= said, (service, path)
                if operation.get("security"):
                    assert {"401", "403"} <= said, (service, method, path)


@pytest.mark.parametrize("service", SERVICES)
def test_what_comes_back_is_what_the_document_says(own: House, service: str) -> None:
    found = operations(own, service)
    assert len(found) >= 5
    for operation in found.values():
        takes = bool(operation.body) or any(True for _ in operation.iter_parameters())
        answered = _hold(operation, GenerationMode.POSITIVE)
        # Where all is well formed and is there, it is given: else nothing was looked at.
        assert operation.method == "post" or answered & {200, 409}, (operation.label, answered)
        if takes:
            assert operation.method != "post" or 422 in _hold(operation, GenerationMode.NEGATIVE)


def _hold(operation: Any, mode: GenerationMode) -> set[int]:
    """Gives the statuses of what came back."""
    answered = set()

    @settings(
        max_examples=EXAMPLES, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )  # fmt: skip
    @given(operation.as_strategy(generation_mode=mode))
    def holds(case: Any) -> None:
        if mode is GenerationMode.POSITIVE:
            case.path_parameters = {
                part: KNOWN.get(part, value) for part, value in (case.path_parameters or {}).items()
            }
        response = case.call(timeout=20, headers={"X-Actor": "floorperson"})
        case.validate_response(response, checks=CHECKS)
        answered.add(response.status_code)

    holds()
    return answered
