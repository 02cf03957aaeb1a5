"""HTTP: the client, limits of servers on clients, sockets of servers, and patience with servers that restart."""
