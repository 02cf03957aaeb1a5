"""Tools that run programs, each in a sandbox: `python`, `notebook`, `bash`."""
