"""Programs that run in the sandbox: beside a program (`wire`, `caller`), and beside a test with assertions (`referee`).

Its source is sent to the sandbox as text, so these modules import the standard library only.
"""
