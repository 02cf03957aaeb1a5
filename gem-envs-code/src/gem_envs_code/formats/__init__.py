"""Rows as data sets have them: a module per family of formats, and `table`, which knows them all."""
