"""Result files as MTurk and Toloka write them."""

import csv
import io

SUBMITTED = "2026-01-05T13:00:00"


def write_mturk(assignments, extra=()):
    """One row per assignment; ``assignments`` are (name, worker, hit, labels, status)."""
    width = max((max(labels, default=1) for *_, labels, _ in assignments), default=1)
    names = ["HITId", "Input.hit", "WorkerId", "AssignmentId", "AssignmentStatus", "SubmitTime",
             "WorkTimeInSeconds", *(f"Answer.grade_{place}" for place in range(1, width + 1)),
             "Approve", "Reject"]  # fmt: skip
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    for name, worker, hit, labels, status in assignments:
        writer.writerow(["H", hit, worker, name, status, "Mon Jan 05 05:00:00 PST 2026", "60",
                         *(labels.get(place, "") for place in range(1, width + 1)),
                         "", ""])  # fmt: skip
    writer.writerows(extra)
    return out.getvalue()


def write_toloka(assignments):
    """One row per answer."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow(["INPUT:hit", "INPUT:position", "INPUT:document", "OUTPUT:grade",
                     "ASSIGNMENT:assignment_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status",
                     "ASSIGNMENT:started", "ASSIGNMENT:submitted"])  # fmt: skip
    for name, worker, hit, labels, status in assignments:
        for place, label in labels.items():
            writer.writerow([hit, place, "<p>x", label, name, worker, status,
                             "2026-01-05T12:59:00", SUBMITTED])  # fmt: skip
        out.write("\n")
    return out.getvalue()


WRITERS = {"mturk": write_mturk, "toloka": write_toloka}
