"""Chat templates: from a transcript to the ids that the engine reads next."""
