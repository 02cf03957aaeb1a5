"""The chat encoder (`gem.chat`) of a model that is trained, and a warning about what its template costs."""
