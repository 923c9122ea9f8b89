"""An Apache Kafka broker in KRaft mode, from the jars that its own project publishes."""

from __future__ import annotations

import base64
import subprocess
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from deltaworks.spark.jars import catalogue
from deltaworks.spark.java import find_java
from tests.canaries import new_canary
from tests.jars import kept
from tests.servers.certificates import new_certificate
from tests.servers.keeper import free_port

if TYPE_CHECKING:
    from tests.servers.keeper import Run

JARS = Path(__file__).with_name("kafka-jars.toml")
SMALL = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


@dataclass(frozen=True, slots=True)
class KafkaServer:
    """Where the broker listens: in the clear, with a password, the same over TLS, and with certificates alone."""

    plain: str
    sasl: str
    tls: str
    mutual: str
    certificate: Path
    key: Path
    user: str
    keeper: int  # the process whose end is the broker's end
    password: str = field(repr=False)


def kafka_server(run: Run, name: str = "kafka") -> KafkaServer:
    """The Kafka broker of this run of the tests; one of another name is for whoever wants to break it."""
    facts = run.once(name, lambda folder: _start(run, folder))
    return KafkaServer(**facts | {"certificate": Path(facts["certificate"]), "key": Path(facts["key"])})


def _start(run: Run, folder: Path) -> dict[str, object]:
    password, proof = new_canary(run.folder), new_certificate(folder)
    ports = {name: free_port() for name in ("PLAIN", "SASL", "TLS", "MUTUAL", "CONTROLLER")}
    addresses = {name: f"127.0.0.1:{port}" for name, port in ports.items()}
    keys = folder / "keys.properties"  # named so that a search for secrets passes over it
    keys.touch(mode=0o600)
    keys.write_text(proof.both, encoding="utf-8")
    settings = folder / "server.properties"
    settings.touch(mode=0o600)
    settings.write_text("\n".join(_settings(folder, addresses, password, keys)), encoding="utf-8")
    java = [str(find_java().path), *SMALL, "-cp", ":".join(map(str, kept(catalogue(JARS)["broker"])))]
    name = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
    formatted = ["kafka.tools.StorageTool", "format", "-t", name, "-c", str(settings)]
    subprocess.run([*java, *formatted], check=True, capture_output=True)
    keeper = run.keep([*java, "kafka.Kafka", str(settings)], folder / "log", ports["TLS"])
    return {
        "keeper": keeper,
        "plain": addresses["PLAIN"],
        "sasl": addresses["SASL"],
        "tls": addresses["TLS"],
        "mutual": addresses["MUTUAL"],
        "certificate": str(proof.certificate),
        "key": str(proof.key),
        "user": "test",
        "password": password,
    }


def _settings(folder: Path, addresses: dict[str, str], password: str, keys: Path) -> list[str]:
    listeners = [f"{name}://{address}" for name, address in addresses.items()]
    quoted = password.replace("\\", "\\\\").replace('"', '\\"').replace("\\", "\\\\")  # for JAAS, then for the file
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return [
        "process.roles=broker,controller",
        "node.id=1",
        f"controller.quorum.voters=1@{addresses['CONTROLLER']}",
        f"listeners={','.join(listeners)}",
        f"advertised.listeners={','.join(listeners[:-1])}",
        "controller.listener.names=CONTROLLER",
        "inter.broker.listener.name=PLAIN",
        "listener.security.protocol.map=PLAIN:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SASL_SSL,MUTUAL:SSL,"
        "CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        *(
            f'listener.name.{name}.plain.sasl.jaas.config={module} required user_test="{quoted}";'
            for name in ("sasl", "tls")
        ),
        *(
            f"listener.name.{name}.{mechanism}.sasl.jaas.config="
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            for name in ("sasl", "tls")
            for mechanism in ("scram-sha-256", "scram-sha-512")
        ),
        "ssl.keystore.type=PEM",
        f"ssl.keystore.location={keys}",
        "ssl.truststore.type=PEM",
        f"ssl.truststore.location={folder / 'server.crt'}",
        "listener.name.mutual.ssl.client.auth=required",
        f"log.dirs={folder / 'data'}",
        "auto.create.topics.enable=false",
        "log.retention.ms=-1",  # tests send records of other times, which would be gone after a while
        "offsets.topic.replication.factor=1",
        "offsets.topic.num.partitions=1",
        "transaction.state.log.replication.factor=1",
        "transaction.state.log.min.isr=1",
        "transaction.state.log.num.partitions=1",
        "group.initial.rebalance.delay.ms=0",
        "log.cleaner.backoff.ms=100",  # a compacted topic is compacted at once
    ]
