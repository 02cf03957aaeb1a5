"""Policies that sample tokens."""
