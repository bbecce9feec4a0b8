"""Every kind of workbook that the tool writes, each as small as its kind allows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from clueval_xlsx.outputs.xlsx import Handout
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.folders import ROOT
from tests.support.teams import cases_of, fill
from tests.support.workbooks import ONE_LAYER, answers_for, evaluated, example, written

GOLD, PRED = (ROOT / "examples" / name for name in ("gold.vrt", "pred.vrt"))
UNKIND = ["=1+1", "_x0041_", "a\x07b", " space ", "007", "1e5", "😀", '"quoted"', "<b>&amp;", "'x", "\u200b", "@x"]
NAMES = (
    "review", "review in German", "judged", "one layer", "nothing to judge", "locked", "five rows a sheet",
    "unkind words", "many labels", "conflicts", "report", "report in German", "comparison", "without text", "unmarked",
    "agreed", "judges", "earlier judgements", "by domain", "blind conflicts", "conflicts in German",
    "by suspicion", "sample", "everything in German", "comparison in German",
)  # fmt: skip


def _unkind() -> bytes:
    rows = "".join(f"{word.replace(' ', chr(160))}\tB-{chr(65 + number)}=1\tO\n" for number, word in enumerate(UNKIND))
    return written(evaluated("token\tgold\tpred\n" + rows))


def _labels() -> bytes:
    names = [f"LABEL-OF-MANY-{number}" for number in range(40)]
    rows = "\n".join(f"w{number} B-{name} B-{names[number - 1]}" for number, name in enumerate(names))
    return written(evaluated(f"token gold pred\n{rows}\n", labelled="span"))


_IN_MEMORY: dict[str, Callable[[], bytes]] = {
    "review": lambda: written(example()),
    "review in German": lambda: written(example(), Handout(lang="de", contact="Dr. & Weber")),
    "judged": lambda: written(example(), Handout(answers=answers_for(example())[0])),
    "one layer": lambda: written(evaluated(ONE_LAYER)),
    "nothing to judge": lambda: written(evaluated("token gold pred\nAnn B-PER B-PER\n")),
    "locked": lambda: written(example(), Handout(lock_cells=True)),
    "five rows a sheet": lambda: written(example(), Handout(max_rows=5)),
    "unkind words": _unkind,
    "many labels": _labels,
}


@cache
def _by_command() -> dict[str, bytes]:
    """What commands write, in one go."""
    with TemporaryDirectory() as name:
        folder = Path(name)

        def evaluate(book: str, *options: object) -> Path:
            done = run("evaluate", GOLD, PRED, *EXAMPLE_OPTIONS, "-o", folder / book, *options)
            assert done.code == 0, done.err
            return folder / book

        found: dict[str, Path] = {}
        for person, code in (("anna", "gold_wrong"), ("ben", "model_error")):
            book = evaluate(f"{person}.xlsx")
            fill(book, dict.fromkeys(cases_of(book)["FN"][:4], code))
        both, log = [folder / "anna.xlsx", folder / "ben.xlsx"], folder / "log.jsonl"
        found["conflicts"], found["report"] = folder / "conflicts.xlsx", folder / "report.xlsx"
        made = ("--conflicts", found["conflicts"], "--report", found["report"], "--judgements", log)
        assert run("reimport", *both, "--gold", GOLD, *made).code == 3
        for kind, options in (("blind conflicts", ["--blind"]), ("conflicts in German", ["--lang", "de"])):
            found[kind] = folder / f"{kind}.xlsx"
            assert run("reimport", *both, "--gold", GOLD, "--conflicts", found[kind], *options).code == 3
        found["report in German"] = folder / "bericht.xlsx"
        assert run("reimport", both[0], "--gold", GOLD, "--report", found["report in German"], "--lang", "de").code == 0
        found["comparison"] = folder / "compared.xlsx"
        other = folder / "other.vrt"
        other.write_bytes(GOLD.read_bytes())
        done = run(
            "compare", GOLD, PRED, other, *EXAMPLE_OPTIONS, "-o", found["comparison"], "--set", "score.replicates=20"
        )
        assert done.code == 0, done.err
        found["comparison in German"] = folder / "verglichen.xlsx"
        made = ("-o", found["comparison in German"], "--lang", "de", "--set", "score.replicates=20")
        assert run("compare", GOLD, PRED, other, *EXAMPLE_OPTIONS, *made).code == 0
        evaluate("text.xlsx", "--without-text")
        found["without text"] = folder / "text-without-text.xlsx"
        found["unmarked"] = evaluate("unmarked.xlsx", "--unmarked")
        found["agreed"] = evaluate("agreed.xlsx", "--agreed", "8")
        found["by suspicion"] = evaluate("suspicion.xlsx", "--order", "suspicion", "--also", other)
        found["sample"] = evaluate("sample.xlsx", "--sample", "5")
        every = (
            "--unmarked",
            "--agreed",
            "5",
            "--order",
            "suspicion",
            "--set",
            "workbook.max_rows=5",
            "--set",
            "workbook.lock_cells=true",
            "--lang",
            "de",
        )
        found["everything in German"] = evaluate("alles.xlsx", *every)
        evaluate("judges.xlsx", "--judges", "anna,ben", "--double", "20%")
        found["judges"] = folder / "judges-anna.xlsx"
        found["earlier judgements"] = evaluate("earlier.xlsx", "--previous", log)
        found["by domain"] = evaluate(
            "domain.xlsx", "--by", "domain", "--scheme", "all", "--set", "score.replicates=20"
        )
        return {kind: path.read_bytes() for kind, path in found.items()}


@cache
def workbook(name: str) -> bytes:
    """A workbook of this kind."""
    return _IN_MEMORY[name]() if name in _IN_MEMORY else _by_command()[name]
