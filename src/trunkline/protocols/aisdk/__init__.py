"""The AI SDK's UI message stream: what a web page built on useChat and its server say to each other.

* ``data_urls``: data: URLs, in which files travel
* ``finish_reasons``: why a turn ended, as the reason that a stream finishes with
* ``partial_json``: reads JSON text that is not complete yet
* ``wire``: the chunks of each stream version, messages and requests
"""
