"""Worked cases of the schemes, their reasoning beside them: chars, documents, n/a, options, sentences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.options import Options, SchemeOptions
from clueval_xlsx.options.values import SCHEMES
from clueval_xlsx.pages.numbers import Numbers
from clueval_xlsx.pages.scores import leak_sentence, row_name, scheme_sentence
from clueval_xlsx.scoring.schemes import chars
from clueval_xlsx.scoring.scores import binomial_interval
from clueval_xlsx.words import Words
from tests.support.commands import refused, run
from tests.support.tables import pair_of


def result(table: str | Pair, *names: str, **schemes: object) -> Evaluation:
    pair = pair_of(table) if isinstance(table, str) else table
    return evaluate(pair, Options(replicates=0, schemes=SchemeOptions(scheme=names, **schemes)))  # type: ignore[arg-type]


# ---- chars --------------------------------------------------------------------------------------------------

# The last letter is a token of its own, so that a prediction can stop before it.
MONTOYA = """
    token    gold      {pred}
    My       O         O
    name     O         O
    is       O         O
    Inigo    B-NAME    {first}
    Montoy   I-NAME    {second}
    a        I-NAME    O
"""


@pytest.mark.parametrize(("first", "second"), [("B-NAME", "I-NAME"), ("B-NAME", "B-NAME")])
def test_inigo_montoya(first: str, second: str) -> None:
    """One prediction or two: the space between them needs no masking, so 11 of 12 letters are masked.

    Tokens are joined by a space here, which stands before the last letter, too; it is allowed as well.
    """
    table = MONTOYA.format(pred="pred", first=first, second=second)
    row = result(table, "chars", allow=(("NAME", r"\s"),)).overall("chars")
    assert (row["tp_gold"], row["gold"], row["tp_pred"], row["fp"]) == (11, 12, 11, 0)


def test_brackets_in_a_false_positive_are_harmless_if_none_allows_them() -> None:
    table = """
        token   gold     pred
        see     O        O
        (       O        B-NAME
        Vizzini O        I-NAME
        )       O        I-NAME
    """
    strict = result(table, "chars").overall("chars")
    assert strict["fp"] == len("( Vizzini )")
    row = result(table, "chars", allow=(("NONE", r"[()\s]"),)).overall("chars")
    assert row["fp"] == len("Vizzini")


def test_where_the_rule_of_a_category_does_not_match_that_of_all_is_tried() -> None:
    table = """
        token   gold     pred
        ab.     B-NAME   O
        ab.     B-DATE   O
    """
    rows = result(table, "chars", allow=(("ALL", r"\."), ("DATE", "b"))).select(scheme="chars", layer="span")
    by_label = rows.set_index("label")["fn"]
    assert by_label["NAME"] == len("ab")  # without a rule of its own: the stop need not be masked
    assert by_label["DATE"] == len("a")  # neither its own `b` nor the stop


def test_a_rule_must_match_the_whole_character() -> None:
    table = "token gold pred\na B-X O\n"
    assert result(table, "chars", allow=(("X", "a?"),)).overall("chars")["gold"] == 0
    assert result(table, "chars", allow=(("X", ""),)).overall("chars")["gold"] == 1  # matches nothing, not `a`
    assert result(table, "chars", allow=(("X", "aa"),)).overall("chars")["gold"] == 1


@pytest.mark.parametrize(("unit", "size"), [("codepoints", 3), ("glyphs", 2), ("utf16", 4)])
def test_units_of_characters(unit: str, size: int) -> None:
    table = "token gold pred\ne\u0301𝔘 B-X B-X\n"  # e with a combining accent, and a letter beyond the BMP
    assert result(table, "chars", char_unit=unit).overall("chars")["gold"] == size


def test_bad_and_runaway_rules_stop_with_a_message() -> None:
    table = "token gold pred\na B-X O\n"
    with pytest.raises(OptionError, match=r"no regular expression: '\(a'"):
        result(table, "chars", allow=(("X", "(a"),))
    chars_seconds = chars._SECONDS
    chars._SECONDS = 0.2
    try:
        with pytest.raises(OptionError, match="takes longer than"):
            _ = result(table, "chars", allow=(("X", r"(?:\b|^|(?=a)){30}[bc]"),)).scores
    finally:
        chars._SECONDS = chars_seconds
    with pytest.raises(OptionError, match="'X' is given twice, as 'a' and 'b'"):
        result(table, "chars", allow=(("X", "a"), ("X", "b")))


@pytest.mark.parametrize(
    "rule",
    [
        "((((((a?){50}){50}){50}){50}){50})*b",
        "(" * 5000 + "a" + ")" * 5000,
        f"(?:{'a?' * 900}){{1000}}",
        "a" * 200_000,
        "a(?R)?b|(?R)",
        "((?1)|(?1))*x",
        "(?P<n>(?&n)|(?P>n))x",
    ],
)
def test_a_rule_that_would_fill_the_memory_is_refused_before_it_is_compiled(rule: str) -> None:
    with pytest.raises(OptionError, match=r"the rule of X, '.*', (is too large or repeats too much|calls itself)"):
        result("token gold pred\na B-X O\n", "chars", allow=(("X", rule),))
    assert result("token gold pred\na B-X O\n", "chars", allow=(("X", "[a-c]{1,300}"),)).overall("chars")["gold"] == 0


# ---- documents ----------------------------------------------------------------------------------------------

LEAKS = """
    token   gold     pred
    <text id="a" domain="tax">
    Ann     B-HIGH   B-LOW
    Lee     O        O
    Bob     B-LOW    B-LOW
    </text>
    <text id="b" domain="tax">
    Cy      B-HIGH   B-HIGH
    Dee     B-LOW    O
    </text>
    <text id="c" domain="civil">
    Eve     O        B-LOW
    </text>
"""


def test_documents_without_a_leak() -> None:
    found = evaluate(
        pair_of(LEAKS), Options(replicates=0, by=("domain",), schemes=SchemeOptions(scheme=("documents",)))
    )
    whole = found.overall("documents", level="overlap")
    assert (whole["gold"], whole["tp_gold"], whole["recall"]) == (3, 2, 2 / 3)  # `c` has nothing to leak
    assert np.isnan(whole["precision"])
    assert whole["counts"] == {"leak_free": 2, "leaking": 1}
    rows = found.scores[found.scores["scheme"] == "documents"].set_index(["label", "group"])
    by_label = found.select(scheme="documents", layer="span", average="micro").set_index("label")
    assert by_label[["gold", "tp_gold"]].to_numpy().tolist() == [[2, 2], [2, 1]]  # HIGH, LOW
    by_group = found.select(scheme="documents", group_key="domain").set_index("group")
    assert by_group.loc["tax", ["gold", "tp_gold"]].tolist() == [2, 1]
    assert by_group.loc["civil", ["gold", "tp_gold"]].tolist() == [1, 1]
    exact = binomtest(2, 3).proportion_ci(0.95, method="exact")
    assert (whole["recall_low"], whole["recall_high"]) == pytest.approx((exact.low, exact.high))
    assert len(rows) == 1 + 2 + 1 + 3 + 2


@pytest.mark.parametrize(("successes", "trials"), [(0, 7), (7, 7), (3, 7), (199, 200)])
def test_binomial_interval_is_that_of_scipy(successes: int, trials: int) -> None:
    low, high = binomial_interval(successes, trials)
    exact = binomtest(successes, trials).proportion_ci(0.95, method="exact")
    assert (float(low), float(high)) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_leak_at_all_states_the_upper_bound(language: str) -> None:
    words = Words(language)
    low, _ = binomial_interval(40, 40)
    assert f"{Numbers(words).rate(0.088).short} %" in leak_sentence(40, 40, float(low), words)  # 1 - 0.025 ** (1 / 40)
    assert "39" in leak_sentence(40, 39, 0.8, words)
    assert leak_sentence(0, 0, float("nan"), words) == words["scheme.documents.none"]


# ---- what is not available, what is wrong, what is explained ---------------------------------------------------


def test_strict_seqeval_is_not_available_for_merged_spans() -> None:
    pair = pair_of("token gold gold2 pred pred2\na B-X B-Y B-X B-Y\n", layers={"one": 2, "two": 3})
    found = result(pair, "seqeval")
    row = found.overall("seqeval", variant="strict", labelled="one")
    assert row[["gold", "tp_gold", "pred", "precision", "recall", "f1"]].isna().all()
    assert found.overall("seqeval", variant="default", labelled="one")["recall"] == 1


def test_the_type_of_merged_spans_is_the_first_layer_unless_told_otherwise() -> None:
    pair = pair_of("token gold gold2 pred pred2\na B-X B-Y B-X B-Z\n", layers={"one": 2, "two": 3})
    assert result(pair, "seqeval").overall("seqeval", variant="default", labelled="one")["recall"] == 1
    found = result(pair, "seqeval", type_layer="two")
    assert found.overall("seqeval", variant="default", labelled="two")["recall"] == 0
    with pytest.raises(OptionError, match=r"scheme.type_layer three.*one, two"):
        result(pair, type_layer="three")


def test_everything_that_influences_a_number_is_in_the_signature() -> None:
    found = result(
        "token gold pred\na B-X O\n", "iou", "chars", iou_threshold=(0.7,), allow=(("ALL", "a|b"),)
    ).signature
    assert "|scheme:clueval+iou+chars|" in found
    assert "|iou:0.7|" in found
    assert "|chars:codepoints,ALL=a%7Cb|" in found
    assert "coverage" not in found


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_scheme_has_a_sentence_and_every_row_a_name(language: str) -> None:
    words = Words(language)
    found = result("token gold pred\na B-X O\n", "all")
    whole = found.scores[found.scores["layer"].isna() & found.scores["group_key"].isna()]
    names = [(row["scheme"], row_name(row, words)) for row in whole.to_dict("records")]
    assert len(set(names)) == len(names)
    for scheme in SCHEMES:
        assert scheme_sentence(scheme, words).endswith(".")


def test_the_command_line_reads_rules_from_a_file_and_from_toml(tmp_path: object, write_pair, write) -> None:  # type: ignore[no-untyped-def]
    gold, pred = write_pair("token gold pred\na B-X O\n. I-X O\n")
    rules = write("rules.txt", "X allow=[. ]\n")
    config = write("c.toml", '[scheme]\nscheme = ["chars"]\n[scheme.allow]\nX = "[. ]"\n')
    for arguments in (("--scheme", "chars", "--allow-file", rules), ("--config", config)):
        done = run("score", gold, pred, *arguments, "--json", "-")
        assert done.code == 0, done.err
        assert '"scheme": "chars", "variant": null' in done.out
        assert "X=%5B.%20%5D" in done.out
    refused(run("score", gold, pred, "--scheme", "chars", "--allow", "X=("), "no regular expression")
    refused(run("score", gold, pred, "--scheme", "chars", "--allow-file", "nowhere.txt"), "nowhere.txt", "--allow-file")
    refused(run("score", gold, pred, "--scheme", "bleu"), "bleu", "seqeval")
