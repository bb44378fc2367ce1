"""The 1,797 digit images of scikit-learn as a collection folder: a query a digit."""

import io
import zipfile

import numpy as np
import polars as pl
from PIL import Image
from sklearn.datasets import load_digits

from venire.grouping.vectors import Vectors
from venire.tables.qrels import Qrels


class Digits:
    """The pool of each digit is 200 images of which 40 show it, drawn by seed."""

    def __init__(self, folder, *, queries=10, seed=0):
        self.folder = folder
        data = load_digits()
        rng = np.random.default_rng(seed)
        rows = []
        for digit in range(queries):
            shows = rng.choice(np.flatnonzero(data.target == digit), 40, replace=False)
            others = rng.choice(np.flatnonzero(data.target != digit), 160, replace=False)
            for at in rng.permutation(np.r_[shows, others]):
                rows.append((f"digit{digit}", f"d{at}", int(data.target[at] == digit)))
        names = ["query_id", "doc_id", "relevance"]
        self.truth = Qrels.of(pl.DataFrame(rows, schema=names, orient="row"))
        self.ids = [f"d{at}" for at in range(len(data.target))]
        self.pixels = folder / "pixels.parquet"
        Vectors.of(self.ids, data.data).write(self.pixels)
        self.noise = folder / "noise.parquet"
        two = np.random.default_rng(1).normal(size=(len(self.ids), 2))
        Vectors.of(self.ids, two).write(self.noise)
        self.collection = folder / "digits"
        (self.collection / "images").mkdir(parents=True)
        (self.collection / "qrels").mkdir()
        for name, pixels in zip(self.ids, data.images, strict=True):
            grey = np.clip(255 - pixels * 16, 0, 255).astype(np.uint8)
            image = Image.fromarray(grey).resize((64, 64), Image.Resampling.BICUBIC)
            image.save(self.collection / "images" / f"{name}.png")
        self.truth.write(self.collection / "qrels" / "truth.qrels")
        topics = "".join(f"digit{at}\tImages of the digit {at}\n" for at in range(queries))
        (self.collection / "topics.tsv").write_text("query_id\ttitle\n" + topics)
        toml = 'name = "Digits"\n[scale]\nvalues = [0, 1]\nnames = ["Not relevant", "Relevant"]\n'
        (self.collection / "study.toml").write_text(toml + "relevant_from = 1\n")

    def zip(self):
        """The folder as an archive, for the page."""
        path = self.folder / "digits.zip"
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            for file in sorted(self.collection.rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(self.collection))
        path.write_bytes(out.getvalue())
        return path
