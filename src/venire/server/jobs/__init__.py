"""Long computations on a study: the queue, and the kinds of jobs."""
