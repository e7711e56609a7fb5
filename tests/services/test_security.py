"""What the environment may say of TLS, passwords and copies, and what it is told where it says something else."""

from pathlib import Path

import pytest

from services.backoffice.command_line import main
from services.runtime.security import OPEN, SettingWrong, kafka_security, postgres_url
from services.runtime.settings import Copies, copies
from tests.support.cluster import HOST, keys_in

SASL = {"ROUNDLOG_KAFKA_PROTOCOL": "SASL_SSL", "ROUNDLOG_KAFKA_USER": "house", "ROUNDLOG_KAFKA_PASSWORD": "from env"}
URL = "postgresql://house@db:5432/roundlog"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return keys_in(tmp_path_factory.mktemp("keys"))


def test_unless_told_nobody_is_asked_and_nothing_is_encrypted() -> None:
    assert kafka_security({}) == OPEN
    assert OPEN.words() == {"security_protocol": "PLAINTEXT", "ssl_context": None}
    assert copies({}) == Copies(1, 1)
    assert postgres_url({"ROUNDLOG_POSTGRES": URL}) == URL


def test_a_password_comes_from_its_file_and_is_not_shown(tmp_path: Path, keys: Path) -> None:
    file = tmp_path / "password"
    file.write_text("p@ss:w/rd\n")
    told = {**SASL, "ROUNDLOG_KAFKA_CA": str(keys / "ca.pem"), "ROUNDLOG_KAFKA_PASSWORD_FILE": str(file)}
    del told["ROUNDLOG_KAFKA_PASSWORD"]
    security = kafka_security(told)
    assert security.words() == {
        "security_protocol": "SASL_SSL", "ssl_context": security.tls, "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "house", "sasl_plain_password": "p@ss:w/rd",
    }  # fmt: skip
    assert security.tls is not None and security.tls.check_hostname
    assert "p@ss" not in repr(security)
    url = postgres_url({"ROUNDLOG_POSTGRES": f"{URL}?sslmode=require", "ROUNDLOG_POSTGRES_PASSWORD_FILE": str(file)})
    assert url == "postgresql://house:p%40ss%3Aw%2Frd@db:5432/roundlog?sslmode=require"


def test_a_client_may_have_a_certificate_of_its_own(keys: Path) -> None:
    told = {"ROUNDLOG_KAFKA_PROTOCOL": "SSL", "ROUNDLOG_KAFKA_CA": str(keys / "ca.pem")}
    told |= {f"ROUNDLOG_KAFKA_{name.upper()}": str(keys / HOST / name) for name in ("certificate", "key")}
    assert kafka_security(told).words().keys() == {"security_protocol", "ssl_context"}
    for lacking in ("CERTIFICATE", "KEY"):
        with pytest.raises(SettingWrong, match="go together"):
            kafka_security({name: value for name, value in told.items() if not name.endswith(f"_{lacking}")})
    with pytest.raises(SettingWrong, match=r"ROUNDLOG_KAFKA_KEY=.*belong together"):
        kafka_security({**told, "ROUNDLOG_KAFKA_KEY": str(keys / "authority.key")})


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"ROUNDLOG_KAFKA_PROTOCOL": "TLS"}, "PROTOCOL=TLS: it is one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
        ({**SASL, "ROUNDLOG_KAFKA_MECHANISM": "GSSAPI"}, "MECHANISM=GSSAPI: it is one of SCRAM-SHA-512"),
        ({"ROUNDLOG_KAFKA_CA": "ca.pem"}, "ROUNDLOG_KAFKA_CA is set, and ROUNDLOG_KAFKA_PROTOCOL=PLAINTEXT"),
        ({**SASL, "ROUNDLOG_KAFKA_PROTOCOL": "SSL"}, "USER is set, .*takes SASL_PLAINTEXT or SASL_SSL"),
        ({**SASL, "ROUNDLOG_KAFKA_CA": "/nowhere/ca.pem"}, "CA=/nowhere/ca.pem: the file cannot be read"),
        ({**SASL, "ROUNDLOG_KAFKA_CA": __file__}, "CA=.*no certificate in PEM is in it"),
        ({**SASL, "ROUNDLOG_KAFKA_PASSWORD": ""}, "takes ROUNDLOG_KAFKA_USER, and ROUNDLOG_KAFKA_PASSWORD_FILE"),
        ({**SASL, "ROUNDLOG_KAFKA_PASSWORD_FILE": __file__}, "are both set: keep the file"),
        (
            {**SASL, "ROUNDLOG_KAFKA_PROTOCOL": "SASL_PLAINTEXT", "ROUNDLOG_KAFKA_MECHANISM": "PLAIN"},
            "PLAIN sends the password as it is",
        ),
    ],
)
def test_a_wrong_setting_of_kafkas_is_named_with_the_rule(told: dict[str, str], sentence: str) -> None:
    with pytest.raises(SettingWrong, match=sentence):
        kafka_security(told)


def test_an_empty_file_is_no_password(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(SettingWrong, match="the file is empty"):
        postgres_url({"ROUNDLOG_POSTGRES": URL, "ROUNDLOG_POSTGRES_PASSWORD_FILE": str(tmp_path / "empty")})


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("postgresql://house:secret@db/roundlog", "take it out of the URL"),
        ("postgresql://db/roundlog", "has no user for the password"),
        (f"{URL}?sslmode=on", "sslmode=on: it is one of disable"),
        (f"{URL}?sslmode=verify-full&sslrootcert=/nowhere", "sslrootcert=/nowhere: the file cannot be read"),
    ],
)
def test_a_wrong_setting_of_postgresqls_is_named_with_the_rule(url: str, sentence: str) -> None:
    with pytest.raises(SettingWrong, match=sentence):
        postgres_url({"ROUNDLOG_POSTGRES": url, "ROUNDLOG_POSTGRES_PASSWORD": "secret"})


@pytest.mark.parametrize(
    ("replication", "min_isr", "sentence"),
    [
        ("3", "4", "ROUNDLOG_MIN_ISR=4 is more than ROUNDLOG_REPLICATION=3"),
        ("0", "1", "ROUNDLOG_REPLICATION=0: it must be a whole number from 1 to"),
        ("3", "two", "ROUNDLOG_MIN_ISR=two: it must be a whole number"),
    ],
)
def test_copies_that_cannot_be_are_refused(replication: str, min_isr: str, sentence: str) -> None:
    with pytest.raises(SettingWrong, match=sentence):
        copies({"ROUNDLOG_REPLICATION": replication, "ROUNDLOG_MIN_ISR": min_isr})


def test_the_command_line_ends_with_the_same_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROUNDLOG_KAFKA", "kafka:9092")
    monkeypatch.setenv("ROUNDLOG_KAFKA_PROTOCOL", "TLS")
    assert main(["dead-letters"]) == 2
    said = capsys.readouterr().err
    assert said == "ROUNDLOG_KAFKA_PROTOCOL=TLS: it is one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL\n"
