"""What one player says, as another reads it."""

import json


def quoted(text: str) -> str:
    """A text as one line in quotation marks, so that nothing in it reads like a line of the game itself."""
    return json.dumps(text.encode(errors="replace").decode(), ensure_ascii=False)
