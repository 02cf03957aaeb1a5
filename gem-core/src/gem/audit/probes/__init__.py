"""The probes of the audit that gem-core offers, one file per probe."""
