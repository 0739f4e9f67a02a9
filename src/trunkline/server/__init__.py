"""The HTTP server: any agent for web front ends, safe from the first request. ``asgi`` makes the app."""

try:
    import starlette as starlette
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "the server needs packages of its own: pip install 'trunkline[server]'", name="starlette"
    ) from None
