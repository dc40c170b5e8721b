"""The whole OpenAPI document against a running server: no failure, no undocumented status."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis

# Imported from deep inside a test, it trips over a bug of CPython 3.11.
import schemathesis.transport.wsgi  # pyright: ignore[reportUnusedImport]
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.stateful import run_state_machine_as_test
from schemathesis.specs.openapi.checks import positive_data_acceptance

from quire.api.app import create_app
from quire.settings import Settings, load_settings, variable_of
from quire.testing.answering import WordEmbedder
from quire.testing.index import MemoryIndex
from quire.wiring import opening
from tests.faults.scale import LONG, scale
from tests.integration.service.processes import free_port
from tests.service import settings_in, write_book

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800 if LONG else 300)]

QUICK = settings(
    max_examples=scale(6, 60),
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


class Running:
    """A server in a thread, over fakes for index and embedder."""

    def __init__(self, chosen: Settings, book: Any) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.key = ""
        self._settings = chosen
        self._book = book
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Running:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(30)

    async def _serve(self) -> None:
        app = create_app(self._settings)
        config = uvicorn.Config(app, port=self.port, log_config=None, lifespan="on")
        self._server = uvicorn.Server(config)
        serving = asyncio.create_task(self._server.serve())
        while not self._server.started:  # noqa: ASYNC110 — the server has no event for it
            await asyncio.sleep(0.01)
        library = app.state.library
        await library.ingest(self._book)
        self.key = (await library.keys.create("test", scopes=("admin",))).text
        self._ready.set()
        await serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("schema")
    index = MemoryIndex()

    async def open_index(_: Settings, *, serving: bool) -> MemoryIndex:
        return index

    with pytest.MonkeyPatch.context() as patch:
        for name in Settings.model_fields:
            patch.delenv(variable_of(name), raising=False)
        patch.setattr(opening, "open_index", open_index)
        patch.setattr(opening, "open_embedder", lambda _: WordEmbedder())
        chosen = settings_in(folder, auth="on", rate_limit=1_000_000)
        with Running(chosen, write_book(folder)) as running:
            yield running


DOCUMENT = create_app(load_settings(auth="on")).openapi()
OPERATIONS = [(path, method) for path, found in DOCUMENT["paths"].items() for method in found]
PUBLIC = ("/livez", "/readyz", "/health", "/metrics")


@pytest.fixture(scope="module")
def document(server: Running) -> Any:
    return schemathesis.openapi.from_url(f"{server.address}/openapi.json")


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_operation_keeps_its_promises(
    document: Any, server: Running, path: str, method: str
) -> None:
    @QUICK
    @given(case=document[path][method].as_strategy())
    def keeps(case: Any) -> None:
        case.call_and_validate(
            headers={"Authorization": f"Bearer {server.key}"},
            # some rules span fields, and a schema can't say them
            excluded_checks=[positive_data_acceptance],
        )

    keeps()


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_a_wrong_key_opens_nothing(document: Any, server: Running, path: str, method: str) -> None:
    @settings(QUICK, max_examples=1)
    @given(case=document[path][method].as_strategy())
    def opens_nothing(case: Any) -> None:
        wrong = {"Authorization": f"Bearer sk_{'0' * 12}_{'a' * 43}"}
        status = case.call(headers=wrong).status_code
        assert status in ((200, 404) if path in PUBLIC else (401,))

    opens_nothing()


def test_sequences_of_requests(document: Any, server: Running) -> None:
    class Sequences(document.as_state_machine()):
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": {"Authorization": f"Bearer {server.key}"}}

        def validate_response(self, response: Any, case: Any, **more: Any) -> None:
            case.validate_response(response, excluded_checks=[positive_data_acceptance])

    run_state_machine_as_test(Sequences, settings=settings(QUICK, stateful_step_count=6))
