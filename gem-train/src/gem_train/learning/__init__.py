"""The learner: from batches and credit to new weights."""
