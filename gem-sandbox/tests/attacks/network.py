"""Attacks by sockets, and by what else joins two processes."""

from attacks.model import Attack

CONNECT = """
import socket
def ask(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as connection:
        connection.settimeout(0.4)
        connection.connect(address)
        if kind == socket.SOCK_DGRAM:
            connection.send(b"?")
        print(connection.recv(100))
"""

ATTACKS = (
    Attack(
        "loopback",
        "connects to a server on 127.0.0.1",
        CONNECT + 'ask(socket.AF_INET, ("127.0.0.1", 8765))',
        "leaked server",
    ),
    Attack(
        "loopback_6", "connects to a server on ::1", CONNECT + 'ask(socket.AF_INET6, ("::1", 8765))', "leaked server"
    ),
    Attack(
        "datagram",
        "sends a datagram to a server on 127.0.0.1",
        CONNECT + 'ask(socket.AF_INET, ("127.0.0.1", 8766), socket.SOCK_DGRAM)',
        "leaked udp",
    ),
    Attack(
        "fast_open",
        "connects by sending",
        """
import socket
with socket.socket() as connection:
    connection.settimeout(0.4)
    connection.sendto(b"?", 0x20000000, ("127.0.0.1", 8765))
    print(connection.recv(100))
""",
        "connected",
    ),
    Attack(
        "listen",
        "waits for connections on 127.0.0.1",
        """
import socket
with socket.create_server(("127.0.0.1", 8767)) as server:
    server.settimeout(2)
    connection, _ = server.accept()
    connection.sendall(b"gem-breach")
    connection.recv(1)  # until the other side, which has noted it by then, hangs up
""",
        "listened",
        options={"timeout": 1.5, "wall": 3.0},
    ),
    Attack(
        "abstract_socket",
        "connects to an abstract socket",
        CONNECT + 'ask(socket.AF_UNIX, "\\0gem-bait")',
        "leaked server",
    ),
    Attack(
        "named_socket",
        "connects to a socket in the file system",
        CONNECT + 'ask(socket.AF_UNIX, "/run/agent.sock")',
        "leaked server",
    ),
    Attack(
        "connect_in_namespace",
        "makes namespaces of its own, and connects from there",
        """
import ctypes, socket
ctypes.CDLL(None).unshare(0x10000000)
with socket.create_connection(("127.0.0.1", 8765), 0.4) as connection:
    print(connection.recv(100))
""",
        "leaked server",
    ),
    Attack(
        "netlink",
        "opens a netlink socket, which configures the network",
        'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); print("BREACH")',
        "printed BREACH",
    ),
    Attack(
        "virtual_machine_socket",
        "opens a socket to the machine's host, which no network namespace holds back",
        'import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); print("BREACH")',
        "printed BREACH",
        kernel="AF_VSOCK",
    ),
    Attack(
        "shared_segment",
        "reads a System V shared memory segment",
        """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
print(ctypes.string_at(libc.shmat(libc.shmget(0x67656d, 0, 0), None, 0)))
""",
        "leaked segment",
    ),
    Attack(
        "leave_segment",
        "leaves a shared memory segment of 64 MB behind",
        """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(0x67656e, 64 << 20, 0o1666)
ctypes.memset(libc.shmat(segment, None, 0), 1, 64 << 20)
""",
        "left",
    ),
    Attack(
        "descriptors_in_flight",
        "leaves sockets that hold each other, with as many descriptors as its user may have on the way",
        """
import os, socket
sent = 0
for _ in range(40):
    pair = socket.socketpair()
    try:
        socket.send_fds(pair[0], [b"x"], [pair[0].fileno(), pair[1].fileno()])
        sent += 2
    except OSError:
        pass
print("BREACH" if sent else "")
""",
        "printed BREACH",
    ),
    Attack(
        "message_queue",
        "makes a POSIX message queue, which outlives it",
        """
import ctypes, os
libc = ctypes.CDLL(None)
if libc.mq_open(b"/gem-breach", os.O_CREAT | os.O_RDWR, 0o600, None) >= 0:
    print("BREACH")
""",
        "printed BREACH",
        kernel="POSIX message queues",
    ),
    Attack(
        "keyring",
        "reads a key of its session",
        """
import ctypes
libc = ctypes.CDLL(None)
key = libc.syscall(250, 10, -3, b"user", b"gem", 0)
buffer = ctypes.create_string_buffer(100)
libc.syscall(250, 11, key, buffer, 100)
print(buffer.value)
""",
        "leaked key",
        kernel="key rings",
    ),
)
