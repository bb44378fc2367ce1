"""``venire simulate grouping``: which grouping saves time without losing relevant images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli.shared.options import SEED
from venire.cli.shared.output import FORMAT, bar, emit
from venire.errors import BadSetting, DataError

if TYPE_CHECKING:
    import polars as pl

    from venire.formats.collection import Collection
    from venire.grouping.settings import Setting
    from venire.grouping.vectors import Vectors
    from venire.progress import Progress
    from venire.simulation.grouping.annotators import GroupedAnnotator
    from venire.simulation.grouping.pools import GroupedPools, Groupings
    from venire.tables.qrels import Qrels

HASH = "perceptual-hash"


@click.command("grouping")
@click.argument("collection", metavar="COLLECTION")
@click.option(
    "--truth", metavar="QRELS", help="Labels to compare against: a file, or a name in qrels/."
)
@click.option(
    "--pilot", metavar="JUDGMENTS", help="A judged pilot: its annotators become types, its "
    "majority the truth where --truth is not given."
)  # fmt: skip
@click.option(
    "--encoder", metavar="NAME", help="What makes vectors of the documents: efficientnet-lite0, or "
    "with settings, open-clip(model=RN50)."
)  # fmt: skip
@click.option("--vectors", metavar="FILE", help="Precomputed vectors: .npy or .parquet.")
@click.option(
    "--methods",
    metavar="M,...",
    help="Methods and values to try: leader,k-means(size=4|8). All, with all values, by default.",
)
@click.option(
    "--caps", default="none", show_default=True, metavar="N,...", help="Most images in a group."
)
@click.option("--current", metavar="SETTING", help="The study's setting; always tried.")
@click.option(
    "--annotators",
    metavar="A,...",
    help="Types the recommendation is based on: novice,typical,expert,mine(check_all=12). By "
    "default the pilot's, or typical.",
)
@click.option("--pool", metavar="FILE", help="Table of query_id and doc_id, best first.")
@click.option(
    "--depth", type=int, default=100, show_default=True, help="Of the pool made of the runs."
)
@click.option("--queries", type=int, metavar="N", help="How many to replay; all by default.")
@click.option(
    "--repetitions",
    type=int,
    default=3,
    show_default=True,
    help="Of each query, where chance acts.",
)
@click.option(
    "--bootstrap", type=int, default=1000, show_default=True, help="Resamples of the queries."
)
@click.option(
    "--relevant-from", type=int, default=1, show_default=True, help="Least relevant grade."
)
@SEED
@click.option(
    "--by",
    type=click.Choice(("setting", "type", "query")),
    default="setting",
    show_default=True,
    help="A row a setting; a setting and annotator type; or a query of each of these.",
)
@click.option("-o", "--output", metavar="DIR", help="Write report.html, tables and vectors.")
@FORMAT
def command(**options: Any) -> None:
    """Simulate annotators who judge grouped images, under every grouping that is tried.

    COLLECTION is a folder with documents (doc_id and image, or text), qrels/ and runs/. Without
    --pool and runs, the pool of a query is what the truth has labels of.
    """
    from venire.formats.collection import read_collection
    from venire.grouping.settings import Setting
    from venire.report.grouping import GroupingReport, write_grouping
    from venire.report.grouping_words import doubts, plan, verdict
    from venire.simulation.grouping.annotators import with_bounds
    from venire.simulation.grouping.pools import GroupedPools, with_always
    from venire.simulation.grouping.recommend import recommend
    from venire.simulation.grouping.replay import results, simulate

    seed = options["seed"]
    collection = read_collection(options["collection"])
    truth, chosen, notes = _truth_and_types(options, collection)
    pool, pool_notes = _pool(options, collection, truth)
    notes += pool_notes
    tried, left_out = _settings(options, collection)
    notes += left_out
    settings = with_always(
        tried,
        Setting.parse(options["current"]) if options["current"] else None,
    )
    with bar() as progress:
        pools = GroupedPools.of(
            pool,
            truth,
            relevant_from=options["relevant_from"],
            queries=options["queries"],
            seed=seed,
        )
        groupings = _groupings(options, collection, pools, settings, progress)
        groupings.prepare(settings, progress)
        people = with_bounds(chosen)
        units = list(
            simulate(
                groupings,
                settings,
                people,
                seed=seed,
                repetitions=options["repetitions"],
                progress=progress,
            )
        )
    table = results(units)
    names = [one.name for one in chosen]
    found = recommend(table, names, bootstrap=options["bootstrap"], seed=seed)
    notes = [verdict(found), *doubts(found), *notes, *groupings.notes]
    if options["output"]:
        report = GroupingReport(
            found=found,
            results=table,
            annotators=people,
            cosines=groupings.cosines(),
            plan=plan(
                settings,
                people,
                queries=len(groupings.pools.queries),
                repetitions=options["repetitions"],
            ),
            seed=seed,
            notes=notes,
        )
        written = write_grouping(report, options["output"])
        notes.append(f"written: {', '.join(path.name for path in written)} in {options['output']}")
    rows = {"setting": found.settings, "type": found.types, "query": table}[options["by"]]
    shown = rows.to_dicts()
    if options["form"] == "table" and options["by"] == "setting":
        from venire.report.grouping import setting_rows

        shown = setting_rows(found)
    emit(
        "simulate grouping",
        shown,
        form=options["form"],
        settings={
            **{key: value for key, value in options.items() if key not in ("form", "output")},
            "methods": [str(one) for one in settings],
            "annotators": [one.settings for one in people],
            "queries": list(groupings.pools.queries),
        },
        notes=notes,
    )


def _truth_and_types(
    options: dict[str, Any], collection: Collection
) -> tuple[Qrels, list[GroupedAnnotator], list[str]]:
    """Return the labels to compare against, the chosen types, and notes."""
    from venire.simulation.grouping.annotators import parse_annotators
    from venire.simulation.grouping.pilot import default_types, majority_truth, measure_pilot
    from venire.tables.judgments import Judgments
    from venire.tables.qrels import Qrels

    least = options["relevant_from"]
    notes: list[str] = []
    judged = Judgments.read(options["pilot"]) if options["pilot"] else None
    given = options["truth"]
    if given is None and judged is not None:
        truth = majority_truth(judged, relevant_from=least)
        notes.append("the truth is the majority of the pilot's annotators; a tie is relevant")
    elif given is None:
        if len(collection.qrels) != 1:
            names = ", ".join(collection.qrels) or "none"
            raise DataError(
                f"{options['collection']}: there is no single file of qrels ({names}); name "
                "--truth or --pilot"
            )
        (truth,) = collection.qrels.values()
    elif given in collection.qrels:
        truth = collection.qrels[given]
    else:
        truth = Qrels.read(given).require_rows(given)
    notes += truth.notes
    pilots = None
    if judged is not None:
        pilots = measure_pilot(judged, truth, relevant_from=least)
        notes += [*judged.notes, *(note for one in pilots for note in one.notes)]
    chosen = default_types(pilots)
    if options["annotators"]:
        named = parse_annotators(options["annotators"])
        chosen = [*(chosen if pilots else []), *named]
    return truth, chosen, notes


def _pool(
    options: dict[str, Any], collection: Collection, truth: Qrels
) -> tuple[pl.DataFrame, list[str]]:
    """Return ``query_id, doc_id``, best first, and a note that says where it is from."""
    import polars as pl

    from venire.formats import read_frame
    from venire.pooling.base import Lists
    from venire.pooling.depth import DepthK

    if options["pool"]:
        frame, _ = read_frame(options["pool"])
        ids = [name for name in ("query_id", "doc_id") if name in frame.columns]
        return frame.with_columns(pl.col(ids).cast(pl.String)), []
    if len(collection.runs):
        pool = DepthK(k=options["depth"]).pool(Lists.of(collection.runs))
        return pool.frame, [f"the pools are the first {options['depth']} of every run, best first"]
    return truth.frame, ["there are no runs: the pool of a query is what the truth has labels of"]


def _settings(options: dict[str, Any], collection: Collection) -> tuple[list[Setting], list[str]]:
    """Return what is tried, by default all that can be; and a note on what is left out."""
    from venire import plugins
    from venire.grouping.settings import parse_methods, read_caps

    caps = read_caps(options["caps"])
    if options["methods"]:
        return parse_methods(options["methods"], caps), []
    there = {"nothing"}
    if options["encoder"] or options["vectors"]:
        there.add("vectors")
    if "image" in collection.documents.columns:
        there.add("hashes")
    names = [
        name for name in plugins.names("grouper") if plugins.load("grouper", name).needs in there
    ]
    others = [name for name in plugins.names("grouper") if name not in names]
    left_out = f"not tried, for want of an --encoder or --vectors: {', '.join(others)}"
    if "vectors" in there:
        left_out = f"not tried, for want of images: {', '.join(others)}"
    return parse_methods(",".join(names), caps), [left_out] if others else []


def _groupings(
    options: dict[str, Any],
    collection: Collection,
    pools: GroupedPools,
    settings: list[Setting],
    progress: Progress,
) -> Groupings:
    """Return the groupings, with what the settings need: vectors, hashes, nearness to the query."""
    import polars as pl

    from venire.grouping.encoders import named, parse_encoder
    from venire.grouping.vectors import read_vectors
    from venire.simulation.grouping.pools import Groupings, near_queries

    if options["encoder"] and options["vectors"]:
        raise BadSetting("--encoder makes vectors and --vectors has them; name one of the two")
    documents = collection.documents
    needs = {setting.grouper.needs for setting in settings}
    if "vectors" in needs and not (options["encoder"] or options["vectors"]):
        raise BadSetting("these methods need vectors; name an --encoder, or a file of --vectors")
    wanted = documents.filter(pl.col("doc_id").is_in(pools.documents))
    vectors = hashes = None
    if options["vectors"]:
        ids = documents["doc_id"].to_list() if documents.height else None
        vectors = read_vectors(options["vectors"], ids)
    elif options["encoder"]:
        name, encoder = options["encoder"], parse_encoder(options["encoder"])
        vectors = _encoded(name, encoder, wanted, options, progress)
        pools = near_queries(encoder, collection.topics, pools, vectors)
    if "hashes" in needs:
        same = options["encoder"] == HASH
        hashes = vectors if same else _encoded(HASH, named(HASH), wanted, options, progress)
    return Groupings(pools, vectors, hashes)


def _file_name(encoder: str) -> str:
    """Return an encoder's name as a part of a file's name; settings become a digest."""
    from hashlib import sha256

    name, settings, _ = encoder.partition("(")
    return f"{name}-{sha256(encoder.encode()).hexdigest()[:8]}" if settings else name


def _encoded(
    name: str,
    encoder: Any,
    documents: pl.DataFrame,
    options: dict[str, Any],
    progress: Progress,
) -> Vectors:
    """Return the vectors of documents; those kept in DIR are not computed again."""
    from venire.grouping.encoders import encode
    from venire.grouping.vectors import read_vectors

    output, root = options["output"], options["collection"]
    kept = Path(output) / f"vectors-{_file_name(name)}.parquet" if output else None
    known = read_vectors(kept) if kept is not None and kept.exists() else None
    made = encode(encoder, documents, name=name, root=root, known=known, progress=progress)
    if kept is not None and len(made):
        made.write(kept)
    return made
