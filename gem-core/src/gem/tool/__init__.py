"""Tools: what an agent can call, how calls look, and how they are carried out.

```python
from gem.tool import ToolError, tool

@tool
def divide(a: float, b: float) -> str:
    '''Divide a by b.'''
    if b == 0:
        raise ToolError("b is 0")
    return str(a / b)
```

`gem.ToolEnv` puts tools around an environment.
"""

from gem.errors import BadArguments, ToolError, ToolTimeout
from gem.tool.content import Content
from gem.tool.formats import FORMATS, BadCall, CallFormat, ToolCall, find_format
from gem.tool.resource import Resource
from gem.tool.runtime import ToolRuntime, shared_runtime
from gem.tool.session import ToolSession
from gem.tool.tool import Tool, tool, tools_of

__all__ = [
    "FORMATS",
    "BadArguments",
    "BadCall",
    "CallFormat",
    "Content",
    "Resource",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolRuntime",
    "ToolSession",
    "ToolTimeout",
    "find_format",
    "shared_runtime",
    "tool",
    "tools_of",
]
