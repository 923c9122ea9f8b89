"""A Kafka cluster, asked before Spark starts: its topics, their offsets, and whether it lets us in."""

from __future__ import annotations

import logging
import re
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from deltaworks.errors import ConfigError, SetupError
from deltaworks.spark.kafka.span import Extent, Partition
from deltaworks.vault.extras import required

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from deltaworks.spark.kafka.login import Login

PATIENCE = 8.0  # seconds for all questions that are asked at once
MOST_NAMED = 20  # topics

Answer = TypeVar("Answer")

# librdkafka would print what goes wrong on the way; here it is told once, in an error.
_SILENT = logging.getLogger(f"{__name__}.librdkafka")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


class Broker:
    """A cluster as librdkafka sees it; it reads and writes no records."""

    def __init__(self, login: Login) -> None:
        self._login = login
        self._kafka: Any = required("confluent_kafka", "kafka")
        self._admin_module: Any = required("confluent_kafka.admin", "kafka")
        self._errors: list[Any] = []
        self._admin = self._made(lambda: self._admin_module.AdminClient(self._settings(), logger=_SILENT))

    def _settings(self) -> dict[str, Any]:
        return {**self._login.to_librdkafka(), "error_cb": self._errors.append}

    def _made(self, make: Callable[[], Answer]) -> Answer:
        try:
            return make()
        except self._kafka.KafkaException as error:  # a value that librdkafka cannot take
            raise KafkaUnreachableError(self._login.servers, error.args[0].str()) from error

    def consumer(self, **settings: Any) -> Any:
        """A consumer of librdkafka's, which belongs to the caller."""
        return self._made(lambda: self._kafka.Consumer({**self._settings(), **settings}, logger=_SILENT))

    def topics(self) -> dict[str, tuple[int, ...]]:
        """The partitions of every topic that we may see, by name; asking makes none."""
        found = self._patiently(lambda: self._admin.list_topics(timeout=0.5))
        return {name: tuple(sorted(topic.partitions)) for name, topic in found.topics.items()}

    def cluster(self) -> str:
        """The cluster's own id, whichever of its brokers is asked."""
        return str(self._patiently(lambda: self._admin.list_topics(timeout=0.5)).cluster_id)

    def topic_ids(self, names: Iterable[str]) -> dict[str, str]:
        """What tells a topic from one that was made anew under its name."""
        asked = self._kafka.TopicCollection(list(names))
        found = self._patiently(
            lambda: {
                name: answer.result()
                for name, answer in self._admin.describe_topics(asked, request_timeout=PATIENCE).items()
            }
        )
        return {name: str(topic.topic_id) for name, topic in found.items()}

    def _patiently(self, ask: Callable[[], Answer]) -> Answer:
        """What the cluster answers, asked until it does or says that it will not."""
        deadline = time.monotonic() + PATIENCE
        self._admin.poll(0)
        self._errors.clear()  # what was wrong before another question says nothing of this one
        while True:
            try:
                return ask()
            except self._kafka.KafkaException as error:
                self._admin.poll(0)  # brings the errors
                if self._is_refused(error) or time.monotonic() > deadline:
                    raise KafkaUnreachableError(self._login.servers, self._reason(error)) from error
                time.sleep(0.1)

    def _is_refused(self, answer: Any) -> bool:
        """Whether asking again is useless: a broker does not let us in, we lack a right, or no name is known."""
        kinds = self._kafka.KafkaError
        final = {kinds._AUTHENTICATION, kinds._SSL, kinds.TOPIC_AUTHORIZATION_FAILED}
        told = (answer.args[0], *self._errors)
        if any(error.code() in final or "SSL handshake failed" in error.str() for error in told):
            return True
        unknown = {error.str().partition("/")[0] for error in self._errors if error.code() == kinds._RESOLVE}
        return len(unknown) == len(self._login.servers.split(","))

    def _reason(self, error: Any) -> str:
        """What librdkafka says of it: the last error that is about one broker, where it says most about it."""
        own = [each for each in self._errors if each.code() != self._kafka.KafkaError._ALL_BROKERS_DOWN]
        told = [each.str() for each in own if each.code() == own[-1].code()]
        return max(told, key=len) if told else str(error.args[0].str())

    def extents(self, partitions: Sequence[Partition], *, committed: bool) -> list[Extent]:
        """Which offsets each partition has; where only what is committed counts, up to the first open transaction."""
        spec = self._admin_module.OffsetSpec
        starts = self._offsets(dict.fromkeys(partitions, spec.earliest()), committed=committed)
        ends = self._offsets(dict.fromkeys(partitions, spec.latest()), committed=committed)
        return [Extent(partition=each, start=starts[each], end=ends[each]) for each in partitions]

    def offsets_at(self, moment: datetime, partitions: Iterable[Partition], *, committed: bool) -> dict[Partition, int]:
        """The first offset of each partition whose record is of this time or later; -1 where there is none."""
        spec = self._admin_module.OffsetSpec.for_timestamp(milliseconds(moment))
        return self._offsets(dict.fromkeys(partitions, spec), committed=committed)

    def _offsets(self, asked: Mapping[Partition, Any], *, committed: bool) -> dict[Partition, int]:
        level = self._kafka.IsolationLevel
        by_name = {self._kafka.TopicPartition(*each): spec for each, spec in asked.items()}

        def ask() -> dict[Partition, int]:
            answers = self._admin.list_offsets(
                by_name,
                isolation_level=level.READ_COMMITTED if committed else level.READ_UNCOMMITTED,
                request_timeout=PATIENCE,
            )
            return {Partition(each.topic, each.partition): answer.result().offset for each, answer in answers.items()}

        # A partition may be without a leader for a moment, as when its topic is new.
        return self._patiently(ask) if by_name else {}

    def require(self, *names: str, then: str = "") -> dict[str, tuple[int, ...]]:
        """The partitions of these topics; refuses one that is not there, and says what to do then."""
        there = self.topics()
        for name in names:
            if name not in there:
                what = f"There is no topic {name!r} at {self._login.servers}"
                raise TopicNotFoundError(what, name, there, then=then)
        return {name: there[name] for name in names}

    def matching(self, pattern: str) -> dict[str, tuple[int, ...]]:
        """The partitions of all topics that a pattern matches as a whole, but for Kafka's own; refuses to find none."""
        there = self.topics()
        found = {name: there[name] for name in there if re.fullmatch(pattern, name) and not name.startswith("__")}
        if not found:
            raise TopicNotFoundError(f"No topic at {self._login.servers} matches {pattern!r}", pattern, there)
        return found


def milliseconds(moment: datetime) -> int:
    """A time as Kafka counts it, the first that is not before it; negative numbers mean something else to Kafka."""
    return max(-((datetime(1970, 1, 1, tzinfo=UTC) - moment) // timedelta(milliseconds=1)), 0)


class KafkaUnreachableError(SetupError):
    """A cluster does not answer, or does not let us in."""

    def __init__(self, servers: str, why: str) -> None:
        told = _plain(why)
        super().__init__(f"Kafka at {servers} cannot be reached: {told}", hint=_advice(told))


class TopicNotFoundError(ConfigError):
    """A file names a topic that is not there, or not for this user."""

    def __init__(self, what: str, name: str, known: Iterable[str], *, then: str = "") -> None:
        super().__init__(f"{what}.", hint=f"{_closest(name, known)} {then or 'Mend the name, or ask for the right.'}")


def _closest(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    names = sorted(each for each in known if not each.startswith("__"))
    close = get_close_matches(name, names, n=3, cutoff=0.6)
    shown = close or names[:MOST_NAMED]
    more = f" and {len(names) - len(shown):,} more" if not close and len(names) > len(shown) else ""
    if not shown:
        return "This user sees no topic there."
    return f"{'Close to it' if close else 'Topics there'}: {', '.join(shown)}{more}."


def _plain(why: str) -> str:
    """What librdkafka says, without the names of its own parts and states."""
    told = re.sub(r"^(\w+://)?\S+/(bootstrap|\d+): ", "", why.strip())
    told = re.sub(r" \(after \d+ms in state \w+[^)]*\)", "", told)
    # OpenSSL tells it first and librdkafka after it, in more words; which of them is heard is chance.
    told = re.sub(r"^error:\w+:SSL routines:\w*:", "SSL handshake failed: ", told)
    told = re.sub(r"certificate verify failed$", "the certificate could not be verified", told)
    return told.rstrip(".") + "."


def _advice(why: str) -> str:
    told = (hint for words, hint in _ADVICE.items() if re.search(words, why))
    return next(told, "Check the address, and whether the port wants TLS (security_protocol) or a login.")


_ADVICE = {
    "(?i)mechanism": "Check mechanism in the credential, and that the port wants a login.",
    "(?i)authenticat": "Check username, password and mechanism in the credential.",
    "(?i)certificate|PEM": "Check ca, certificate and key in the credential: ca holds the certificates to trust.",
    "(?i)authoriz": "The user is known, but lacks a right on the topic.",
    "(?i)resolve": "Check the name of the host.",
    "(?i)refused|timed out": "Check host and port, and that the broker runs.",
}
