"""An agent whose every byte a test decides: ``puppet_agent.py SOCKET``.

What it reads goes to the socket as it is, and what comes from the socket is written as it is. It ends with
its stdin, and at once when the socket says nothing more.
"""

import os
import socket
import sys
import threading

connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])


def write() -> None:
    while data := connection.recv(1 << 16):
        while data:
            data = data[os.write(1, data) :]
    os._exit(0)


threading.Thread(target=write, daemon=True).start()
while data := os.read(0, 1 << 16):
    connection.sendall(data)
connection.shutdown(socket.SHUT_WR)
