"""Search: a corpus, retrievers over it and over the web, a server of any of them, and the tools on top."""
