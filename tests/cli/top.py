# SPDX-License-Identifier: MIT
"""Goal: `mglru top` on a terminal: it draws anew, fits the window, obeys its keys, and leaves the
terminal as it was however it ends.
Method: a pseudo terminal, and the program of examples/ as the live cache.
usage: top.py MGLRU AGING"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

MGLRU, AGING = sys.argv[1:]
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
failures = 0


def check(what, passed):
    global failures
    if not passed:
        print("failed:", what)
        failures += 1


class Terminal:
    """One run of `mglru top SOCKET` on a terminal of its own."""

    def __init__(self, socket, rows, columns):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.output = b""
        self.process = subprocess.Popen(
            [MGLRU, "top", socket], stdin=self.slave, stdout=self.slave, stderr=self.slave,
            preexec_fn=self.take_terminal)

    def take_terminal(self):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def resize(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, pattern):
        """Reads on until the pattern has come, at most 10 s, and forgets what stood before it."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            found = re.search(pattern, self.output, re.S)
            if found:
                self.output = self.output[found.end():]
                return True
            if select.select([self.master], [], [], 0.1)[0]:
                self.output += os.read(self.master, 65536)
        return False

    def end(self):
        """How the program ended, and whether the terminal is as it was."""
        left = self.wait_for(re.escape(LEAVE))
        status = self.process.wait(10)
        same = termios.tcgetattr(self.slave) == self.before
        os.close(self.master)
        os.close(self.slave)
        return status, left and same


def started(socket, rows=24, columns=100):
    terminal = Terminal(socket, rows, columns)
    check("it takes the terminal", terminal.wait_for(re.escape(ENTER)))
    check("the first frame", terminal.wait_for(rb"3 memcgs; counts since the start.*agetest"))
    return terminal


def run(socket, server):
    top = started(socket)
    check("it goes on by itself", top.wait_for(rb"counts a second.*agetest.scope +16M"))
    check("the names of the columns stand out", top.wait_for(rb"\x1b\[7mmemcg .*?\x1b\[0m"))
    top.resize(5, 30)
    # Two rows are left below title, empty line and names; no line is longer than the window.
    check("a small window", top.wait_for(
        rb"\x1b\[H\x1b\[K.{30}\r\n\x1b\[K\r\n\x1b\[K\x1b\[7m.{30}\x1b\[0m\r\n"
        rb"\x1b\[K/ {29}\r\n\x1b\[K/system.slice {17}\x1b\[H"))
    os.write(top.master, b"j")
    check("j scrolls", top.wait_for(rb"\x1b\[0m\r\n\x1b\[K/system.slice +\r\n\x1b\[K/system.slice/age"))
    os.write(top.master, b"\x1b[A")
    check("the arrow scrolls back", top.wait_for(rb"\x1b\[0m\r\n\x1b\[K/ +\r\n"))
    os.write(top.master, b"xq")
    check("q quits", top.end() == (0, True))

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT):
        top = started(socket)
        top.process.send_signal(number)
        check("signal %d" % number, top.end() == (-number, True))

    top = started(socket)
    os.write(top.master, b"\x03")
    check("^C", top.end() == (-signal.SIGINT, True))

    top = started(socket)
    server.kill()
    check("the server dies", top.end() == (3, True))


def main():
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "socket")
        server = subprocess.Popen([AGING, "16", "batched", socket], stdout=subprocess.PIPE)
        try:
            while b"listens" not in server.stdout.readline():
                check("the server starts", server.poll() is None)
                if failures:
                    return
            run(socket, server)
        finally:
            server.kill()


main()
sys.exit(failures > 0)
