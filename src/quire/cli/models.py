"""`quire models`: the model files this machine needs."""

from __future__ import annotations

from dataclasses import asdict

import typer

from quire.cli.terminal import HomeOption, JsonFlag, err, escape, fail, out, print_json, settings_of
from quire.errors import QuireError

app = typer.Typer(help="The model files this machine needs.", no_args_is_help=True)


@app.command("list")
def list_models(home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Show the models and whether they are ready."""
    from quire.embedding.store import ModelStore

    settings = settings_of(as_json=as_json, home=home)
    status = ModelStore(settings.models_path, source=settings.model_source).status()
    if as_json:
        print_json({"models": [asdict(status)]})
        return
    state = "[green]ready[/]" if status.problem is None else f"[yellow]{status.problem}[/]"
    size = f"{status.bytes / 1e6:.0f} MB"
    out.print(f"{status.name}  {state}  {size}  [dim]{escape(str(status.folder))}[/]")
    if status.manifest is not None:
        check = status.manifest.check
        ratio = check.int8_texts_per_second / check.fp32_texts_per_second
        out.print(
            f"  uses {check.chosen}: int8 is {ratio:.2f} × as fast as fp32 here, "
            f"mean cosine {check.cosine:.4f}"
        )


@app.command()
def pull(home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Fetch, verify and build the models; quick when they are ready."""
    from quire.embedding.store import ModelStore

    settings = settings_of(as_json=as_json, home=home)
    store = ModelStore(settings.models_path, source=settings.model_source)
    try:
        if as_json or not err.is_terminal:
            store.ensure(lambda message: err.print(f"[dim]{message}[/]"))
        else:
            with err.status("model files") as line:
                store.ensure(lambda message: line.update(message))
    except QuireError as error:
        fail(error, as_json=as_json)
    list_models(home, as_json)
