"""{{ cookiecutter.description.rstrip('.') | replace('\\', '\\\\') | replace('"', "'") }}. See the pack's README for all."""

__version__ = "0.1.0"
