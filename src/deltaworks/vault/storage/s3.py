"""S3, and what speaks like it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from deltaworks.errors import SetupError
from deltaworks.vault.storage.base import Access, Sources
from deltaworks.vault.storage.profile import profile
from deltaworks.vault.storage.settings import Settings, Vocabulary, below

if TYPE_CHECKING:
    from collections.abc import Mapping

ACCESS, SECRET, TOKEN = "access_key_id", "secret_access_key", "session_token"
_VOCABULARY = Vocabulary(
    prefixes=("aws_",),
    names={
        "type": frozenset(),
        "endpoint": frozenset({"endpointurl", "endpointurls3"}),
        "region": frozenset({"defaultregion", "endpointregion"}),
        "path_style_access": frozenset({"pathstyle", "forcepathstyle"}),
        "virtual_hosted_style_request": frozenset(),
        "allow_http": frozenset(),  # the endpoint says so itself
        ACCESS: frozenset({"accesskey"}),
        SECRET: frozenset({"secretkey"}),
        TOKEN: frozenset({"token"}),
    },
    secret=frozenset({ACCESS, SECRET, TOKEN}),
)
_PROVIDERS = "org.apache.hadoop.fs.s3a"
_CHAIN = "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """A pair of keys, and the token of those that expire."""

    access: SecretStr
    secret: SecretStr
    token: SecretStr | None = None

    def named(self, access: str, secret: str, token: str) -> dict[str, str]:
        """The keys under these names."""
        given = {access: self.access, secret: self.secret, token: self.token}
        return {name: value.get_secret_value() for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Access(Access):
    """The way to one bucket; without keys the provider chain of each engine finds some."""

    bucket: str
    endpoint: str | None = None
    region: str | None = None
    path_style: bool = False
    keys: Keys | None = None
    for_hadoop: Mapping[str, str] = field(default_factory=dict)  # more of S3A's settings, without their prefix
    for_object_store: Mapping[str, str] = field(default_factory=dict)  # more of delta-rs's options
    foreign_token: bool = False  # the environment has a token that belongs to other keys

    @classmethod
    def of(cls, uri: str, sources: Sources) -> S3Access:
        """Find out how a bucket is reached."""
        bucket = urlsplit(uri).netloc
        settings = _settings(bucket, sources)
        endpoint, keys = settings.get("endpoint"), _keys(settings)
        return cls(
            place=f"s3a://{bucket}",
            bucket=bucket,
            credential_id=sources.credential.credential_id if sources.credential else None,
            notes=settings.notes,
            endpoint=_with_scheme(endpoint) if endpoint else None,
            region=settings.get("region"),
            path_style=_path_style(settings, endpoint),
            keys=keys,
            for_hadoop=_patient(sources.conf, bucket) | _VOCABULARY.beyond(_s3a(sources.options, bucket)),
            for_object_store=_VOCABULARY.beyond({**_VOCABULARY.prefixed(sources.options), **sources.given}),
            foreign_token=keys is not None
            and keys.token is None
            and bool(sources.environment.get("AWS_SESSION_TOKEN")),
        )

    def to_hadoop(self) -> dict[str, str]:
        """Spell it as S3A's settings of this bucket."""
        conf = {**self.for_hadoop, "path.style.access": _text(self.path_style), **self._hadoop_keys()}
        if self.endpoint:
            conf |= {"endpoint": self.endpoint, "connection.ssl.enabled": _text(not self._is_plain)}
        if self._region:
            conf["endpoint.region"] = self._region
        return {f"fs.s3a.bucket.{self.bucket}.{name}": value for name, value in conf.items()}

    def _hadoop_keys(self) -> dict[str, str]:
        if self.keys is None:
            return {"aws.credentials.provider": _CHAIN}
        kind = "Temporary" if self.keys.token else "Simple"
        named = self.keys.named("access.key", "secret.key", "session.token")
        return {**named, "aws.credentials.provider": f"{_PROVIDERS}.{kind}AWSCredentialsProvider"}

    def to_object_store(self) -> dict[str, str]:
        """Spell it as delta-rs's options."""
        if self.foreign_token:
            raise SetupError(
                f"AWS_SESSION_TOKEN is set, and delta-rs would send it along with the keys for {self.place}.",
                hint="Unset it, or put the token of these keys beside them as session_token.",
            )
        options = {**self.for_object_store, "aws_virtual_hosted_style_request": _text(not self.path_style)}
        if self.endpoint:
            options |= {"aws_endpoint_url": self.endpoint, "aws_allow_http": _text(self._is_plain)}
        if self._region:
            options["aws_region"] = self._region
        return options | (self.keys.named(f"aws_{ACCESS}", f"aws_{SECRET}", f"aws_{TOKEN}") if self.keys else {})

    @property
    def _region(self) -> str | None:
        """The region; other people's servers want one too, and do not mind which."""
        return self.region or ("us-east-1" if self.endpoint else None)

    @property
    def _is_plain(self) -> bool:
        return (self.endpoint or "").startswith("http://")

    def secrets(self) -> frozenset[str]:
        """The keys."""
        return frozenset(self.keys.named(ACCESS, SECRET, TOKEN).values()) if self.keys else frozenset()


def _settings(bucket: str, sources: Sources) -> Settings:
    chained = bool(sources.environment.get("AWS_WEB_IDENTITY_TOKEN_FILE"))  # which comes before any profile
    return _VOCABULARY.settled(
        sources,
        options=_s3a(sources.options, bucket),
        conf=_s3a(sources.conf, bucket),
        last={} if chained else profile(sources.environment),
    )


def _s3a(given: Mapping[str, str], bucket: str) -> dict[str, str]:
    """S3A's settings for one bucket; its own win over those for all."""
    found = below(given, "fs.s3a.")
    return {k: v for k, v in found.items() if not k.startswith("bucket.")} | below(found, f"bucket.{bucket}.")


def _patient(conf: Mapping[str, str], bucket: str) -> dict[str, str]:
    """How long S3A waits and how often it tries, as far as Spark's configuration does not say.

    By default it gives up on a server that never answers after hours; so it does after some five minutes.
    """
    ours = {"connection.timeout": "30s", "attempts.maximum": "2", "retry.limit": "4"}
    return {name: value for name, value in ours.items() if name not in _s3a(conf, bucket)}


def _keys(settings: Settings) -> Keys | None:
    settings.require_whole(ACCESS, SECRET)
    access, secret, token = (settings.get(name) for name in (ACCESS, SECRET, TOKEN))
    if access is None or secret is None:
        return None
    return Keys(access=SecretStr(access), secret=SecretStr(secret), token=SecretStr(token) if token else None)


def _path_style(settings: Settings, endpoint: str | None) -> bool:
    """Whether the bucket stands in the path: Amazon puts it into the host's name, most others cannot."""
    hosted = settings.flag("virtual_hosted_style_request", endpoint is None or "amazonaws.com" in endpoint)
    return settings.flag("path_style_access", not hosted)


def _with_scheme(endpoint: str) -> str:
    return endpoint.rstrip("/") if "://" in endpoint else f"https://{endpoint.rstrip('/')}"


def _text(flag: bool) -> str:
    return str(flag).lower()
