"""The page and the widget, built by `make web` into `static/`."""
