"""Data sets: where rows come from (`DataSource`), and opening them (`open_table`).

Environments on rows are written on `gem.dataset_env.DatasetEnv`.
"""

from gem.data.source import Data, DataSource
from gem.data.table import Table, open_table

__all__ = ["Data", "DataSource", "Table", "open_table"]
