"""Front ends: one folder per protocol that clients speak. The same role has the same file name in each.

* ``acp``: the Agent Client Protocol, for editors
* ``agui``: AG-UI, for web pages
* ``aisdk``: the AI SDK's UI message stream, for pages built on useChat
* ``options``: what the settings of all of them have in common
* ``unified``: UnifiedMessage, the envelope of BeamCode, in a program or on a WebSocket
"""
