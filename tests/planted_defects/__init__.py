"""A pack of tasks, each with one defect that an author may make, and their sound twins; see `plugin`.

The defects are named after what others reported of their tasks, where there is such a report: then the class names it.
"""
