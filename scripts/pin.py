"""Prints the installed distributions as exact constraints, without index lines."""

from __future__ import annotations

from importlib.metadata import distributions

SKIPPED = {"quire", "setuptools", "wheel"}


def main() -> None:
    """One `name==version` per line, sorted."""
    pins = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in distributions()}
    print("# Exact versions `make setup` installs; rewrite with `make constraints`.")
    for name in sorted(set(pins) - SKIPPED):
        print(f"{name}=={pins[name]}")


if __name__ == "__main__":
    main()
