"""Results of MCP tools as the agent sees them, and what our tools return as MCP content."""

import json
import re

from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from gem.core import ContentPart, Observation
from gem.tool.content import text_of

_IMAGE = re.compile(r"image/[a-z0-9.+-]{1,50}")
_LARGEST = 10 * 2**20
"""Characters of an image in base64; chat APIs take less."""


def to_observation(result: CallToolResult) -> Observation:
    """Text where there is only text, and content parts where there is an image.

    A result with structured content alone is shown as JSON. Content that chat APIs do not take (sound, binary files,
    links, invalid or too large images) is named in brackets.
    """
    if not result.content and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False)
    parts = [_part(block) for block in result.content]
    if all(part["type"] == "text" for part in parts):
        return text_of(parts)
    return parts


def to_blocks(observation: Observation) -> list[ContentBlock]:
    """Text or content parts as MCP content. Images are `data:` URLs; any other URL becomes a link."""
    if isinstance(observation, str):
        return [TextContent(text=observation)]
    return [_block(part) for part in observation]


def _part(block: ContentBlock) -> ContentPart:
    match block:
        case TextContent():
            return _text(block.text)
        case ImageContent() if len(block.data) > _LARGEST or not _IMAGE.fullmatch(block.mime_type):
            return _text(f"[image, {block.mime_type[:100]}, {len(block.data)} characters]")
        case ImageContent():
            return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}
        case AudioContent():
            return _text(f"[sound, {block.mime_type}]")
        case ResourceLink():
            return _text(f"[{block.name}: {block.uri}]")
        case EmbeddedResource(resource=TextResourceContents(text=text)):
            return _text(text)
        case EmbeddedResource(resource=resource):
            return _text(f"[{resource.uri}, {resource.mime_type or 'binary'}]")


def _block(part: ContentPart) -> ContentBlock:
    if part["type"] == "text":
        return TextContent(text=part.get("text", ""))
    url = part.get("image_url", {}).get("url", "")
    head, _, data = url.partition(";base64,")
    if not data:
        return ResourceLink(name="image", uri=url)
    return ImageContent(data=data, mime_type=head.removeprefix("data:"))


def _text(text: str) -> ContentPart:
    return {"type": "text", "text": text}
