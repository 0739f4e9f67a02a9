"""The routes of the server, one module for each family.

* ``acp``: ``/acp`` as a WebSocket and as streamable HTTP
* ``acp_connections``: the clients that are connected to ``/acp``
* ``acp_scopes``: what a client of ``/acp`` may ask, by the scopes of its token
* ``agui``: ``POST /agui`` and ``GET /agui/capabilities``
* ``agui_formats``: the formats of AG-UI streams: server-sent events, JSON lines, protobuf
* ``agui_runs``: what ``/agui``, ``/agui/ws`` and ``/copilotkit`` have in common
* ``agui_websocket``: ``/agui/ws``
* ``aisdk``: ``/api/chat``, for useChat
* ``aisdk_chats``: what ``/api/chat`` and its WebSocket have in common
* ``aisdk_sequences``: the newest chunks that went to WebSockets
* ``aisdk_websocket``: ``/api/chat/ws``, for the AI SDK's WebSocketChatTransport
* ``completions``: ``/sessions/SESSION/completions``: files for the page
* ``copilotkit``: CopilotKit's routes
* ``copilotkit_threads``: the list of threads for CopilotKit's pages
* ``error_details``: how much of an error a client is told
* ``export``: ``/sessions/SESSION/export``: a session as a file
* ``health``: ``/healthz`` and ``/readyz``
* ``inspector``: ``/sessions/SESSION/inspect`` and ``/wire``: one turn on every wire, the lines of an agent
* ``login``: ``/login`` and ``/logout``: a code or a token becomes the cookie of a browser
* ``opening_streams``: streams that are being opened, of ``/agui`` and ``/api/chat``
* ``page``: ``/``, ``/assets/`` and ``/page``: the files of the page, and what it asks first
* ``session_changes``: ``/sessions``: begin, rename, fork
* ``session_status``: what a session in the list is doing
* ``sessions``: ``/sessions``: list, read, follow, command
* ``turn_views``: one turn through the encoder of each front end
* ``unified_websocket``: ``/unified/SESSION``, for clients that speak UnifiedMessage
* ``websocket_frames``: frames of WebSockets on which clients send JSON
"""
