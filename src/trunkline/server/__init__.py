"""The HTTP server: any agent for web front ends, safe from the first request. ``asgi`` makes the app.

* ``access_log``: a line for each request that was answered
* ``agents``: the served agents, each with its hub, all on one journal
* ``app``: front ends behind a gate, as an ASGI app
* ``asgi``: ``asgi()``, and the list of all front ends
* ``connections``: how many connections there may be, and which are ended for being slow or not read
* ``errors``: what a refused request is answered
* ``event_stream``: events as one response, until they end or the client stops reading
* ``limits``: the limits of the server, each with a safe default
* ``listening_socket``: binds the port, and says what to do when that fails
* ``responses``: answers that no cache keeps
* ``routes``: one module for each family of routes
* ``run``: the app on a socket, with uvicorn
* ``security``: what a request passes before it is looked at
* ``session_settings``: the settings of sessions that are served to many clients
* ``unread_bodies``: lets a client read why its body was refused before the connection closes
"""

try:
    import starlette as starlette
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "the server needs packages of its own: pip install 'trunkline[server]'", name="starlette"
    ) from None
