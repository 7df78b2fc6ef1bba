"""Ports of this machine that are free at the moment."""

import socket


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def free_udp_port():
    return free_port(socket.SOCK_DGRAM)
