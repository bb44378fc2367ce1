"""One module per verdict: ``run(quick, seed)`` simulates it where the truth is known.

``run`` returns rows ``verdict, world, simulations, false_alarms`` (share of simulations in which
the verdict is wrong where it should not speak) or ``coverage`` (share of 95% intervals that hold
the truth), ``standard_error`` of that share, and ``power`` (share of simulations in which the
verdict speaks where it should). A figure that does not apply is None.
"""
