"""The kernel against the source document's formulas, written out with scipy.stats."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import gammaln, psi

from venire import Judgments, Qrels, Scale
from venire.aggregation import loop
from venire.aggregation.ordinal_mixture.inference import Problem
from venire.aggregation.ordinal_mixture.model import OrdinalMixture
from venire.aggregation.ordinal_mixture.state import State, lay_out
from venire.errors import BadSetting, DataError, UnknownName


def random_state(judgments, layout, seed=0):
    rng = np.random.default_rng(seed)
    codes = judgments.codes
    n, m = codes.n_annotators, codes.n_items
    c = layout.category_start.size - 1
    return State(
        mu=rng.uniform(0, 3, m),
        var=rng.uniform(0.05, 0.6, m),
        alpha_n=rng.uniform(1, 5, n),
        beta_n=rng.uniform(0.5, 3, n),
        eps=rng.uniform(0.3, 0.95, n),
        phi_c=rng.uniform(5, 15, c),
        eta_c=rng.uniform(4, 8, c),
        alpha=2.5,
        beta=1.5,
    )


def written_out(model, judgments, layout, state):
    """One iteration of the updates as printed (equations 3 to 5), judgment by judgment."""
    scale = judgments.scale
    # scipy's entropy knows no infinite end; a thousand grades away is as good.
    edges = np.clip(scale.thresholds(outer=model.outer), -1000, 1000)
    tau, delta = state.alpha_n / state.beta_n, state.phi_c / state.eta_c
    log_tau = psi(state.alpha_n) - np.log(state.beta_n)
    log_delta = psi(state.phi_c) - np.log(state.eta_c)
    m_count = state.mu.size
    category = np.searchsorted(layout.category_start, np.arange(m_count), side="right") - 1
    # One distribution for all judgments: scipy takes longest to make one.
    item = np.repeat(np.arange(m_count), np.diff(layout.indptr))
    spread = (tau[layout.annotator] * delta[category[item]]) ** -0.5
    low = (edges[layout.label] - state.mu[item]) / spread
    high = (edges[layout.label + 1] - state.mu[item]) / spread
    cells = stats.truncnorm(low, high, loc=state.mu[item], scale=spread)
    cell_mean, cell_var, cell_entropy = cells.mean(), cells.var(), cells.entropy()
    cell_mass = stats.norm.cdf(high) - stats.norm.cdf(low)
    new_mu, new_var = np.empty(m_count), np.empty(m_count)
    bound = 0.0
    weights, squares = np.zeros(tau.size), np.zeros(tau.size)
    c_weight, c_square = np.zeros(delta.size), np.zeros(delta.size)
    rows = []
    for m in range(m_count):
        c = category[m]
        precision, pull = model.prior_precision, model.prior_precision * scale.mean
        for j in range(layout.indptr[m], layout.indptr[m + 1]):
            n = layout.annotator[j]
            rho = tau[n] * delta[c]
            x, x2 = cell_mean[j], cell_var[j] + cell_mean[j] ** 2
            z, z2 = state.mu[m], state.mu[m] ** 2 + state.var[m]
            square = x2 - 2 * x * z + z2
            spam = (1 - state.eps[n]) / scale.size
            gap = 0.5 * (log_tau[n] + log_delta[c] - np.log(rho))
            true = state.eps[n] * np.exp(gap - 0.5 * rho * state.var[m]) * cell_mass[j]
            w = true / (true + spam)
            if model.responsibility == "paper":
                paper = state.eps[n] * np.sqrt(rho / (2 * np.pi)) * np.exp(-0.5 * rho * square)
                w = paper / (paper + spam)
            # F of equation (2): E[ln p(r, x, y | z, tau, delta)] + H[q(x, y)].
            expected = 0.5 * (log_tau[n] + log_delta[c] - np.log(2 * np.pi)) - 0.5 * rho * square
            bound += w * (np.log(state.eps[n]) + expected + cell_entropy[j] - np.log(w))
            bound += (1 - w) * (np.log(spam) - np.log(1 - w))
            precision += w * rho
            pull += w * rho * x
            rows.append((m, n, c, w, x, cell_var[j]))
        new_mu[m], new_var[m] = pull / precision, 1 / precision
        prior = stats.norm(scale.mean, model.prior_precision**-0.5)
        bound += prior.logpdf(state.mu[m]) - 0.5 * model.prior_precision * state.var[m]
        bound += 0.5 * np.log(2 * np.pi * np.e * state.var[m])
    for m, n, c, w, x, var in rows:
        square = w * (var + (x - new_mu[m]) ** 2 + new_var[m])
        weights[n] += w
        c_weight[c] += w
        c_square[c] += tau[n] * square
    new_delta = (model.phi + c_weight / 2) / (model.eta + c_square / 2)
    for m, n, c, w, x, var in rows:
        squares[n] += new_delta[c] * w * (var + (x - new_mu[m]) ** 2 + new_var[m])
    for shape, rate, alpha, beta in (
        (state.alpha_n, state.beta_n, state.alpha, state.beta),
        (state.phi_c, state.eta_c, model.phi, model.eta),
    ):
        mean_log = psi(shape) - np.log(rate)
        bound += np.sum(
            alpha * np.log(beta) - gammaln(alpha) + (alpha - 1) * mean_log - beta * shape / rate
        )
        bound += np.sum(stats.gamma(shape, scale=1 / rate).entropy())
    return {
        "mu": new_mu,
        "var": new_var,
        "alpha_n": state.alpha + weights / 2,
        "beta_n": state.beta + squares / 2,
        "eps": weights / judgments.codes.per_annotator,
        "phi_c": model.phi + c_weight / 2,
        "eta_c": model.eta + c_square / 2,
    }, bound


@pytest.mark.parametrize("responsibility", ["paper", "exact"])
@pytest.mark.parametrize("difficulty", ["none", "query", "item"])
@pytest.mark.parametrize("outer", ["half-step", "infinite"])
@pytest.mark.parametrize("shards", [1, 3])
def test_one_iteration_is_the_written_out_one(small, responsibility, difficulty, outer, shards):
    judgments, _ = small
    model = OrdinalMixture(
        difficulty=difficulty, responsibility=responsibility, outer=outer, shards=shards
    )
    layout = lay_out(judgments, difficulty)
    problem = Problem(model, judgments, layout, np.full(judgments.codes.n_items, np.nan))
    state = random_state(judgments, layout)
    parts = [problem.sweep(state, shard) for shard in loop.cut_shards(problem.blocks, shards)]
    sums, bound = problem.reduce(state, parts)
    updated = problem.update(state, sums)
    expected, expected_bound = written_out(model, judgments, layout, state)
    assert bound == pytest.approx(expected_bound, rel=1e-9)
    for name, value in expected.items():
        assert getattr(updated, name) == pytest.approx(value, rel=1e-8), name


def test_the_real_valued_variant_is_the_written_out_one(small):
    judgments, _ = small
    model = OrdinalMixture(ordinal=False, responsibility="exact")
    layout = lay_out(judgments, "none")
    problem = Problem(model, judgments, layout, np.full(judgments.codes.n_items, np.nan))
    state = random_state(judgments, layout)
    sums, bound = problem.reduce(
        state, [problem.sweep(state, loop.Shard(0, judgments.codes.n_items))]
    )
    tau, delta = state.tau, state.delta[0]
    log_rho = psi(state.alpha_n) - np.log(state.beta_n) + psi(state.phi_c) - np.log(state.eta_c)
    expected, weights = 0.0, np.zeros(tau.size)
    for m in range(state.mu.size):
        for j in range(layout.indptr[m], layout.indptr[m + 1]):
            n, r = layout.annotator[j], layout.label[j]
            square = (r - state.mu[m]) ** 2 + state.var[m] + 1 / 12  # of rounding
            density = np.exp(0.5 * (log_rho[n] - np.log(2 * np.pi) - tau[n] * delta * square))
            true, spam = state.eps[n] * density, (1 - state.eps[n]) / 4
            expected += np.log(true + spam)
            weights[n] += true / (true + spam)
        prior = stats.norm(1.5, 0.1**-0.5)
        expected += prior.logpdf(state.mu[m]) - 0.05 * state.var[m]
        expected += 0.5 * np.log(2 * np.pi * np.e * state.var[m])
    assert sums.annotator_weight == pytest.approx(weights, rel=1e-10)
    rest = bound - expected
    gammas = problem.reduce(replace(state, mu=state.mu), [problem.sweep(state, loop.Shard(0, 0))])
    assert rest == pytest.approx(gammas[1], rel=1e-8)


def test_the_bound_lies_below_the_integrated_likelihood():
    """Three items, two annotators: z, tau and delta integrated by brute force on a grid."""
    labels = np.array([[0, 0], [2, 2], [1, 2]])
    rows = [("q", f"d{m}", f"w{n}", int(labels[m, n])) for m in range(3) for n in range(2)]
    columns = ["query_id", "doc_id", "annotator_id", "label"]
    judgments = Judgments.of(pl.DataFrame(rows, schema=columns, orient="row"), scale="0,1,2")
    model = OrdinalMixture(responsibility="exact", restarts=3, tolerance=1e-7)
    posterior = model.fit(judgments)
    state = posterior.state["state"]
    edges = judgments.scale.thresholds()

    def weights(points, density):
        return points, density / density.sum()

    delta, p_delta = weights(
        np.linspace(0.2, 6, 24), stats.gamma(10, scale=0.2).pdf(np.linspace(0.2, 6, 24))
    )
    tau = np.exp(np.linspace(-9, 9, 60))
    tau, p_tau = weights(tau, stats.gamma(state.alpha, scale=1 / state.beta).pdf(tau) * tau)
    z, p_z = weights(
        np.linspace(-18, 20, 381), stats.norm(1, 0.1**-0.5).pdf(np.linspace(-18, 20, 381))
    )
    root = np.sqrt(tau[:, None] * delta[None, :])
    total = 1.0
    for m in range(3):
        given = []
        for n in range(2):
            high, low = edges[labels[m, n] + 1], edges[labels[m, n]]
            mass = stats.norm.cdf((high - z) * root[..., None]) - stats.norm.cdf(
                (low - z) * root[..., None]
            )
            given.append(state.eps[n] * mass + (1 - state.eps[n]) / 3)
        # P(labels of m | tau_0, tau_1, delta), z summed out.
        total = total * np.einsum("adz,bdz,z->abd", given[0], given[1], p_z)
    exact = np.log(np.einsum("abd,a,b,d->", total, p_tau, p_tau, p_delta))
    bound = posterior.bounds.filter(pl.col("restart") == posterior.restart)["bound"][-1]
    assert exact - 3 < bound < exact


def simulated(seed=0, people=40, items=800, per_item=10):
    """Draw from the model itself: x ~ N(z, 1/tau_n), thresholds, uniform spam."""
    rng = np.random.default_rng(seed)
    z = rng.normal(2.0, 0.1**-0.5, items)
    tau = rng.uniform(1.5, 8.0, people)  # errors of at most a step: not mistaken for spam
    eps = rng.choice([0.3, 0.7, 0.95], people)
    edges = Scale.of(range(5)).thresholds()[1:-1]
    rows = []
    for m in range(items):
        for n in rng.permutation(people)[:per_item]:
            x = rng.normal(z[m], tau[n] ** -0.5)
            label = np.searchsorted(edges, x) if rng.random() < eps[n] else rng.integers(5)
            rows.append((f"q{m % 20}", f"d{m:04d}", f"w{n:03d}", int(label)))
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "annotator_id", "label"], orient="row")
    return Judgments.of(frame, scale="0,1,2,3,4"), z, tau, eps


def oracle_mean(judgments, tau, eps):
    """Posterior mean of z for who knows tau and epsilon: no method can do better."""
    codes = judgments.codes
    edges = judgments.scale.thresholds(outer="infinite")
    grid = np.linspace(-14, 18, 641)
    log = np.tile(stats.norm(2.0, 0.1**-0.5).logpdf(grid), (codes.n_items, 1))
    item = codes.item_of()
    for label in range(5):
        for n in range(tau.size):
            root = np.sqrt(tau[n])
            mass = stats.norm.cdf((edges[label + 1] - grid) * root) - stats.norm.cdf(
                (edges[label] - grid) * root
            )
            here = item[(codes.label == label) & (codes.annotator == n)]
            np.add.at(log, here, np.log(eps[n] * mass + (1 - eps[n]) / 5))
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    return weight @ grid / weight.sum(axis=1)


@pytest.mark.parametrize("responsibility", ["paper", "exact"])
def test_parameters_of_simulated_data_are_recovered(responsibility):
    judgments, z, tau, eps = simulated()
    model = OrdinalMixture(responsibility=responsibility, restarts=3, outer="infinite")
    posterior = model.fit(judgments)
    items = posterior.items.sort("doc_id")
    people = posterior.annotators.sort("annotator_id")
    truth = z[[int(doc[1:]) for doc in judgments.codes.items["doc_id"]]]
    # Beyond the ends of the scale every label is the same and only the prior speaks.
    best = np.mean((oracle_mean(judgments, tau, eps) - truth)[np.abs(truth - 2) < 2] ** 2)
    error = np.mean((items["estimate"].to_numpy() - z)[np.abs(z - 2) < 2] ** 2)
    assert error < 1.25 * best
    found = 1 - people["spamminess"].to_numpy()
    assert np.corrcoef(found, eps)[0, 1] > 0.95
    order = stats.spearmanr(people["expertise"].to_numpy(), tau).statistic
    assert order > 0.5
    if responsibility == "exact":
        # The printed update is not that of the model: it leans towards spam.
        assert np.mean(np.abs(found - eps)) < 0.08
        within = np.abs(found - eps) < 3 * people["spamminess_sd"].to_numpy()
        assert np.mean(within) > 0.85


def test_a_known_grade_teaches_who_to_believe():
    """Two camps disagree everywhere; grades known for some items say which camp is right."""
    rows = [
        (f"q{m}", f"d{m}", f"{camp}{n}", 2 if camp == "right" else 0)
        for m in range(20)
        for camp in ("right", "wrong")
        for n in range(3)
    ]
    columns = ["query_id", "doc_id", "annotator_id", "label"]
    judgments = Judgments.of(pl.DataFrame(rows, schema=columns, orient="row"), scale="0,1,2")
    gold = Qrels.from_dict({f"q{m}": {f"d{m}": 2} for m in range(10)})
    posterior = OrdinalMixture(restarts=2).fit(judgments, gold=gold)
    assert (posterior.grades("mode") == 2.0).all()
    assert any("held at their known grade" in note for note in posterior.notes)


def test_a_warm_start_needs_few_iterations_and_ends_there(small):
    judgments, _ = small
    model = OrdinalMixture(restarts=1, tolerance=1e-3)
    first = model.fit(judgments)
    again = model.fit(judgments, start=first)
    assert again.bounds.height < first.bounds.height / 3
    assert again.estimate == pytest.approx(first.estimate, abs=0.01)


def test_a_start_of_another_model_is_refused(small):
    from venire.aggregation.dawid_skene import DawidSkene

    first = DawidSkene().fit(small[0])
    with pytest.raises(DataError, match="dawid-skene"):
        OrdinalMixture().fit(small[0], start=first)


def test_difficulty_by_a_column(small):
    judgments, _ = small
    halves = judgments.frame["doc_id"].str.slice(1).cast(pl.Int64) % 2
    with_site = replace(
        judgments, frame=judgments.frame.with_columns(halves.cast(pl.String).alias("site"))
    )
    posterior = OrdinalMixture(difficulty="site", restarts=2).fit(with_site)
    assert posterior.difficulty["site"].to_list() == ["0", "1"]
    with pytest.raises(BadSetting, match="none, query, item or a column"):
        OrdinalMixture(difficulty="sight").fit(with_site)
    mixed = with_site.frame.with_columns(pl.int_range(pl.len()).cast(pl.String).alias("site"))
    with pytest.raises(DataError, match="different values"):
        OrdinalMixture(difficulty="site").fit(replace(with_site, frame=mixed))


def test_difficulty_of_items_ranks_hard_items_below_easy_ones():
    rng = np.random.default_rng(0)
    rows = []
    for m in range(200):
        sd = 0.3 if m < 100 else 1.5
        for n in range(12):
            label = int(np.clip(np.rint(rng.normal(2.0, sd)), 0, 4))
            rows.append((f"q{m // 100}", f"d{m:03d}", f"w{n}", label))
    columns = ["query_id", "doc_id", "annotator_id", "label"]
    judgments = Judgments.of(pl.DataFrame(rows, schema=columns, orient="row"), scale="0,1,2,3,4")
    easy, hard = (
        OrdinalMixture(difficulty="query", restarts=2)
        .fit(judgments)
        .difficulty.sort("query")["inverse_difficulty"]
    )
    assert easy > 3 * hard


@pytest.mark.parametrize(
    ("setting", "value", "error"),
    [
        ("responsibility", "printed", UnknownName),
        ("outer", "open", UnknownName),
        ("restarts", 0, BadSetting),
        ("phi", 0.0, BadSetting),
        ("tolerance", 0.0, BadSetting),
        ("tolerance", float("inf"), BadSetting),
        ("max_iterations", 0, BadSetting),
    ],
)
def test_bad_settings_are_refused(setting, value, error):
    with pytest.raises(error, match=setting):
        OrdinalMixture(**{setting: value})


def test_a_fit_that_calls_everything_spam_is_set_aside(small):
    judgments, _ = small
    model = OrdinalMixture()
    problem = Problem(model, judgments, lay_out(judgments, "none"), np.empty(0))
    layout = problem.layout
    sane = random_state(judgments, layout)
    lost = replace(sane, eps=np.full_like(sane.eps, 0.03))
    fits = [loop.Fit(lost, (-10.0,), True), loop.Fit(sane, (-20.0,), True)]
    best, notes = problem.choose_restart(fits)
    assert best == 1
    assert "1 of 2 restarts took all judgments for spam" in notes[0]
