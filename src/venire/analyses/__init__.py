"""Kinds of jobs: long computations on a study, with what they keep."""
