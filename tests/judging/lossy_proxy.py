"""A proxy between a client and PostgreSQL that loses one message of the server, and every connection with it."""

import random
import socket
import threading
from contextlib import suppress
from itertools import count

from cranfield import CranfieldError


class LossyProxy:
    """Listens on 127.0.0.1; `lose(number)` loses that message of the server, counted from 1 from then on."""

    def __init__(self, server):
        self._server, self._lock, self._left = server, threading.Lock(), 0
        self._pairs, self.lost = [], False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._listener.close()
        self._break(self._pairs)

    def lose(self, number):
        with self._lock:
            self._left, self.lost = number, False

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # small messages would wait for each other
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                pair = (client, server)
                self._pairs.append(pair)
                for forward in (self._from_client, self._from_server):
                    threading.Thread(target=forward, args=(pair,), daemon=True).start()

    def _from_client(self, pair):
        client, server = pair
        with suppress(OSError):
            while data := client.recv(1 << 16):
                server.sendall(data)
        self._break([pair])

    def _from_server(self, pair):
        client, server = pair
        with suppress(OSError), server.makefile("rb") as messages:
            while len(head := messages.read(5)) == 5:  # a letter, and the length of what follows with itself
                message = head + messages.read(int.from_bytes(head[1:]) - 4)
                with self._lock:
                    self._left -= 1
                    self.lost = self.lost or self._left == 0
                    if self._left == 0:
                        break
                client.sendall(message)
        self._break([pair])

    @staticmethod
    def _break(pairs):
        for end in (end for pair in pairs for end in pair):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def losing_each(proxy, act, step=1):
    """Act again and again, losing the first answer, then the second, … until there are no more; what came of each.

    step: lose only some of them, so far apart
    """
    for number in count(random.randint(1, step), step):
        proxy.lose(number)
        try:
            result = act(number)
        except CranfieldError as error:
            result = error
        lost = proxy.lost
        proxy.lose(0)
        yield number, result
        if not lost:
            assert number > 10, "the proxy lost nothing"
            return
