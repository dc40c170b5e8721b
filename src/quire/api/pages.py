"""The chat page, the author's page and the widget, as files built into the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles

NOT_BUILT = "The page is not built. Run `make web` and start again; the API works without it.\n"


def static_folder() -> Path:
    """Where `make web` puts the page."""
    return Path(str(files("quire.web"))) / "static"


def install(app: FastAPI) -> None:
    """Serve the page at `/` and `/admin`, its assets, and `/widget.js`."""
    folder = static_folder()

    def page(name: str, **headers: str) -> Response:
        path = folder / name
        if not path.is_file():
            return PlainTextResponse(NOT_BUILT, status_code=404)
        return FileResponse(path, headers={"Cache-Control": "no-cache", **headers})

    @app.get("/", include_in_schema=False)
    async def chat_page() -> Response:
        return page("index.html")

    @app.get("/admin", include_in_schema=False)
    async def admin_page() -> Response:
        return page("admin.html")

    @app.get("/widget.js", include_in_schema=False)
    async def widget() -> Response:
        # other sites load it: that is what it is for
        return page("widget.js", **{"Cross-Origin-Resource-Policy": "cross-origin"})

    if (folder / "assets").is_dir():
        app.mount("/assets", StaticFiles(directory=folder / "assets"), name="assets")
