"""The page on a re-import, which a lead reads: before and after, what cases turned out to be, changes, conflicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isnan, nan
from pathlib import PurePath

from clueval_xlsx.cases.kinds import FN, FP, UM, Sheet
from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.pages.page import (
    Bar,
    Bars,
    Chapter,
    Heading,
    Look,
    Page,
    Section,
    Table,
    TableRow,
    Text,
    TextStyle,
    Tiles,
    Tone,
    marked,
)
from clueval_xlsx.pages.scores import RATES, PageMaker, Scored
from clueval_xlsx.review.adjudication import Adjudication
from clueval_xlsx.review.case_words import (
    judgement_names,
    label_difference,
    sentence_differences,
    severity_name,
    sheet_name,
    spans_name,
    what_one_said,
)
from clueval_xlsx.review.correction import extent
from clueval_xlsx.review.judged_figures import ALPHA, CARRIED, COHEN, FLEISS, RAW
from clueval_xlsx.review.judgements import SPAN_CHOICES
from clueval_xlsx.review.progress import CaseState
from clueval_xlsx.words import Words

_FEW = 10  # agreement on fewer cases is faint
_MEASURES = (RAW, COHEN, FLEISS, ALPHA)
_UNJUDGED, _OPEN = "unjudged", "open"
_UNSETTLED = ("undecided", _OPEN, _UNJUDGED)
# Whose error a case turned out to be; the others were nobody's.
_TONES = {
    "gold_error": Tone.PRED,
    "true_find": Tone.PRED,
    "model_error": Tone.GOLD,
    "missed_by_both": Tone.GOLD,
    "acceptable": Tone.BOTH,
    "settled": Tone.BOTH,
}


def adjudication_page(run: Adjudication, words: Words) -> Page:
    """A summary, and a chapter each for changes, conflicts, agreement and unusable rows."""
    make = _AdjudicationMaker(run, words)
    chapters = [Chapter(words["adjudicated.summary"], make.summary())]
    for table, tone, counted in (
        (make.changes(), Tone.PLAIN, True),
        (make.conflicts(), Tone.GOLD, True),
        (make.agreement(), Tone.PLAIN, False),
        (make.unusable(), Tone.PRED, True),
        *([(make.left_over(), Tone.PRED, True)] if run.left_over else []),
    ):
        count = make.numbers.count(len(table.rows)).text if counted else ""
        chapters.append(Chapter(table.title, (table,), count, tone))
    gold, pred = (PurePath(side.source.name).name for side in (run.raw.pair.gold, run.raw.pair.pred))
    people = dict.fromkeys(record.judge for record in run.records if record.code)
    judgements = make.numbers.count(sum(bool(record.code) for record in run.records)).text
    judged = words("adjudicated.judged_by", judged=judgements, people=", ".join(people) or words["adjudicated.nobody"])
    subtitle = words("adjudicated.subtitle", gold=gold, pred=pred, judged=judged)
    return make.page(words["adjudicated.title"], [subtitle], chapters)


class _AdjudicationMaker(PageMaker):
    """The parts of the page on one run."""

    def __init__(self, run: Adjudication, words: Words) -> None:
        super().__init__(words)
        self.run = run
        self.ledger = run.ledger.set_index("entry")
        self.sheets = [sheet for sheet in Sheet if sheet in run.ledger.columns]
        self.names = judgement_names(run.judgements, words)
        self.states = [Scored(words[f"adjudicated.state_{row['state']}"], row) for row in run.scores.to_dict("records")]

    def summary(self) -> tuple[Section, ...]:
        """The headline, large figures, what is next, and every small table."""
        run, words = self.run, self.words
        title, note, beta = words["adjudicated.states_title"], words["adjudicated.states"], run.raw.options.beta
        return (
            Text((self.headline(),), TextStyle.HEADLINE),
            self.tiles(),
            Text(self.next_steps(), TextStyle.STEPS, words["lead.next_title"]),
            self.rate_dots(title, self.states),
            self.score_table("", words["adjudicated.state"], self.states, beta, [note]),
            Text((words["adjudicated.unseen"],), TextStyle.NOTE),
            *self.estimates(),
            *self.remaining(),
            *self.turned_out(),
            self.severities(),
            self.account(),
            self.workbooks(),
            self.signatures((run.raw.signature, run.corrected.signature)),
        )

    # ---- words ----

    def headline(self) -> str:
        """One sentence of several parts."""
        words, ledger = self.words, self.ledger
        account = self.run.account
        counts = {"decided": self._text(account.done), "cases": self._text(account.cases)}
        parts = [words.counted("lead.decided", account.cases, **counts)]
        settled = int(ledger[FN].drop(list(_UNSETTLED)).sum())
        if settled:
            errors = int(ledger.loc["gold_error", FN])
            key = "lead.misses_counted" if 1 in (settled, errors) else "lead.misses"
            parts.append(words(key, settled=self._text(settled), errors=self._text(errors)))
        if UM in ledger.columns:
            both = int(ledger.loc["missed_by_both", UM])
            counts = {"both": self._text(both), "listed": self._text(int(ledger[UM].sum()))}
            parts.append(words.counted("lead.both_missed", both, **counts))
        parts.append(self._recall())
        conflicts, rows = self._cases(_OPEN), len(self.run.unusable)
        if conflicts or rows:
            parts.append(words("lead.in_conflict", count=self._text(conflicts)))
            parts.append(words("lead.rows", count=self._text(rows)))
        else:
            parts.append(words["lead.nothing_left"])
        return words("lead.sentence", parts=words["lead.joined"].join(parts))

    def _recall(self) -> str:
        before, after = (result.headline["recall"] for result in (self.run.raw, self.run.corrected))
        if isnan(before) or isnan(after):
            return self.words["lead.recall_undefined"]
        shown = [self.numbers.rate(before).short, self.numbers.rate(after).short]
        key = "stays" if shown[0] == shown[1] else "rises" if after > before else "falls"
        return self.words(f"lead.recall_{key}", before=shown[0], after=self.numbers.rate(after).text)

    def next_steps(self) -> tuple[str, ...]:
        """What is to be done, the most pressing first."""
        words, run, steps = self.words, self.run, []
        if conflicts := self._cases(_OPEN):
            steps.append(words("lead.next_conflicts", count=self._text(conflicts)))
        if run.unusable:
            steps.append(words("lead.next_unusable", count=self._text(len(run.unusable))))
        if run.missing_people:
            steps.append(words("lead.next_missing", people=", ".join(run.missing_people)))
        if still := run.account.counts[CaseState.OPEN]:
            steps.append(words("lead.next_open", count=self._text(still)))
        return tuple(steps) or (words["lead.next_nothing"],)

    def estimates(self) -> list[Text]:
        """What a sample tells about all cases."""
        words, rows = self.words, self.run.estimates.to_dict("records")
        if not rows:
            return []
        title = words["adjudicated.sample_title"]
        if not rows[0]["judged"]:
            return [Text((words("adjudicated.sample_nothing", drawn=self._text(rows[0]["drawn"])),), title=title)]
        sentences = []
        for row in rows:
            counts = {key: self._text(row[key]) for key in ("judged", "drawn", "population")}
            rate = {"rate": words[f"metrics.{row['rate']}"], "value": self.numbers.rate(row["value"]).short}
            interval = self.numbers.interval(row["low"], row["high"]).text
            sentences.append(words("adjudicated.sample_sentence", interval=interval, **rate, **counts))
        return [Text(tuple(sentences), title=title), Text((words["adjudicated.sample"],), TextStyle.NOTE)]

    def remaining(self) -> list[Text]:
        """What is to be expected among the cases that nobody judged, where they were ordered by suspicion."""
        words, sentences, estimated = self.words, [], False
        for rest in self.run.remaining:
            counts = {key: self._text(getattr(rest, key)) for key in ("judged", "found", "unjudged", "sample", "hits")}
            if rest.why_not is not None:
                text = words(f"remaining.why_{rest.why_not}", unjudged=counts["unjudged"])
            elif not rest.unjudged:
                text = words["remaining.done"]
            else:
                estimated = True
                counts["expected"] = self.numbers.decimal(rest.expected, 1)
                counts["interval"] = f"{self.numbers.count(rest.low).text}–{self.numbers.count(rest.high).text}"
                text = words.counted("remaining.sentence", rest.unjudged, **counts)
            sentences.append(f"{sheet_name(rest.sheet, words)}: {text}")
        sections = [Text(tuple(sentences), title=words["remaining.title"])] if sentences else []
        return [*sections, Text((words["remaining.caution"],), TextStyle.NOTE)] if estimated else sections

    # ---- figures ----

    def tiles(self) -> Tiles:
        """Recall and precision after correction, and how much was judged, changed, and is left."""
        words, run = self.words, self.run
        before, after = run.raw.headline, run.corrected.headline
        rates = [
            self.rate_tile(
                words[f"metrics.{rate}"], after, rate, words("lead.before", rate=self.numbers.rate(before[rate]).text)
            )
            for rate in RATES
        ]
        wrong = int(self.ledger.loc[["gold_error", "true_find"], [FN, FP]].to_numpy().sum())
        rows = words("lead.tile_open_note", rows=self._text(len(run.unusable)))
        return Tiles(
            (
                *rates,
                self.count_tile(words["lead.tile_decided"], run.account.done, self.of_all(run.account.cases)),
                self.count_tile(words["lead.tile_wrong"], wrong, words["lead.tile_wrong_note"]),
                self.count_tile(
                    words["lead.tile_changes"], len(run.correction.changes), words["lead.tile_changes_note"]
                ),
                self.count_tile(words["lead.tile_open"], self._cases(_OPEN), rows),
            )
        )

    def turned_out(self) -> tuple[Bars, Table]:
        """What the cases turned out to be; the unjudged are words, since their bar would flatten the rest."""
        words, count = self.words, self.numbers.count
        entries = [
            entry for entry, number in self.ledger[self.sheets].sum(axis=1).items() if number and entry != _UNJUDGED
        ]
        names = {entry: words[f"adjudicated.entry_{entry}"] for entry in entries}
        panels = []
        for sheet in self.sheets:
            numbers = {entry: int(self.ledger.loc[entry, sheet]) for entry in entries}
            bars = [
                Bar(names[entry], count(number), _TONES.get(entry, Tone.NOBODY))
                for entry, number in numbers.items()
                if number
            ]
            panels.append((spans_name(sheet, words), tuple(bars)))
        columns = [Heading(words["adjudicated.ledger_entry"])]
        columns += [Heading(spans_name(sheet, words)) for sheet in self.sheets]
        shown: list[str] = list(self.sheets)
        if CARRIED in self.ledger.columns:
            columns.append(Heading(words["adjudicated.through_twin"]))
            shown.append(CARRIED)
        rows = [
            TableRow((names[entry], *(count(int(self.ledger.loc[entry, name])) for name in shown))) for entry in entries
        ]
        title, note, empty = words["adjudicated.ledger_title"], self._open(), words["adjudicated.none_counts"]
        drawn = Bars(title, tuple(panels) if entries else (), empty=empty, tabled=True)
        return drawn, Table("", tuple(columns), tuple(rows), (note,), note)

    def _open(self) -> str:
        """How many cases of the workbooks are open, by sheet."""
        sheets = Counter(case.partition("-")[0] for case in self.run.account.of(CaseState.OPEN))
        if not sheets:
            return self.words["lead.none_open"]
        parts = [
            self.words(f"lead.open_{sheet.lower()}", count=self._text(sheets[sheet]))
            for sheet in Sheet
            if sheets[sheet]
        ]
        return self.words("lead.open", parts=", ".join(parts))

    def severities(self) -> Table:
        """The misses that are left."""
        rows = []
        for row in self.run.misses.to_dict("records"):
            unrated = self.words["adjudicated.unrated"]
            name = severity_name(row["severity"], self.words) if row["severity"] else unrated
            rows.append(TableRow((name, self.numbers.count(int(row["misses"])))))
        title = self.words["adjudicated.severity_title"]
        return Table(title, self._columns("severity", "misses"), tuple(rows))

    def account(self) -> Table:
        """Every case is in one state, and they add up."""
        words, count, account = self.words, self.numbers.count, self.run.account
        rows = [TableRow((words[f"account.state.{state}"], count(number))) for state, number in account.counts.items()]
        rows.append(TableRow((words["account.all"], count(account.cases)), Look.SUMMARY))
        columns = (Heading(words["adjudicated.state"]), Heading(words["account.cases"]))
        return Table(words["account.title"], columns, tuple(rows))

    def workbooks(self) -> Table:
        """What came of each workbook."""
        count, rows = self.numbers.count, []
        for book, account in zip(self.run.workbooks, self.run.workbook_accounts, strict=True):
            numbers = (account.cases, account.done, account.counts[CaseState.UNUSABLE])
            rows.append(TableRow((PurePath(book.name).name, book.judge, *map(count, numbers))))
        columns = self._columns("workbook", "judge_name", "case_rows", "done_rows", "unusable_rows")
        return Table(self.words["adjudicated.workbooks_title"], columns, tuple(rows))

    # ---- lists ----

    def changes(self) -> Table:
        """Every change of the reference as a difference in its sentence, in the order of the text."""
        words, run, pair, rows = self.words, self.run, self.run.raw.pair, []
        changes = sorted(run.correction.changes, key=lambda change: extent(change.old or change.new))
        sentences = sentence_differences(changes, pair.corpus)
        for change, sentence, logged in zip(changes, sentences, run.changes.to_dict("records"), strict=True):
            case = run.case_number(change.case_id)
            if logged["twin"]:
                case = words("adjudicated.as_twin", case=case, twin=run.case_number(logged["twin"]))
            labels = label_difference(change, pair.layers, pair.corpus, words)
            workbooks = ", ".join(PurePath(name).name for name in logged["workbook"].split(", "))
            rows.append(
                TableRow(
                    (
                        case,
                        logged["document"],
                        marked(sentence),
                        marked(labels),
                        self.names.get(change.code, change.code),
                        logged["who"],
                        logged["comment"],
                        workbooks,
                        change.case_id,
                    )
                )
            )
        keys = ("case", "document", "difference", "labels", "judgement", "who", "comment", "workbook", "case_id")
        columns = self._columns(*keys, long=("difference",), late=("workbook", "case_id"))
        return self._list("changes", columns, rows, words["adjudicated.changes_note"])

    def conflicts(self) -> Table:
        """What was not carried out: the words at stake, who said what about them, and why that does not fit."""
        words, run, rows = self.words, self.run, []
        for conflict in run.conflicts:
            said, places = [], []
            for record in (vote.record for vote in conflict.rows):
                line = what_one_said(record, self.names, words)
                if len(conflict.cases) > 1:
                    case = run.case_number(record.twin or record.case_id)
                    line = words("adjudicated.who_of", who=line, case=case)
                said.append(line)
                places.append(_without_folders(record.place))
            hint = words["adjudicated.hint_boundary" if conflict.hint else "adjudicated.hint_judge"]
            rows.append(
                TableRow(
                    (
                        ", ".join(run.case_number(case) for case in conflict.cases),
                        conflict.document,
                        " / ".join(conflict.words),
                        "\n".join(dict.fromkeys(said)),
                        f"{conflict.reason(words)} {hint}",
                        ", ".join(dict.fromkeys(places)),
                        ", ".join(conflict.cases),
                    )
                )
            )
        keys = ("cases", "document", "words", "judgement", "kind", "place", "case_id")
        columns = self._columns(*keys, long=("judgement", "kind"), late=("case_id",))
        return self._list("conflicts", columns, rows)

    def agreement(self) -> Table:
        """All measures of the same judges in one row, beside the number of cases that at least two of them judged."""
        words = self.words
        measured: dict[tuple[str, str], dict[str, float]] = {}
        numbers_of: dict[tuple[str, str], int] = {}
        for line in self.run.agreement.to_dict("records"):
            over = words["adjudicated.over_all"]
            if isinstance(line["label"], str):
                over = f"{line['layer']}: {line['label']}"
            elif isinstance(line["sheet"], str):
                over = sheet_name(line["sheet"], words)
            key = over, str(line["judges"])
            measured.setdefault(key, {})[line["measure"]] = float(line["value"])
            numbers_of[key] = max(int(line["cases"]), numbers_of.get(key, 0))
        shown = [measure for measure in _MEASURES if any(measure in values for values in measured.values())]
        columns = self._columns("over", "judge_name", "number", *(f"measure_{measure}" for measure in shown))
        rows = []
        for (over, judges), values in measured.items():
            cases = numbers_of[over, judges]
            numbers = (self.numbers.measure(values.get(measure, nan)) for measure in shown)
            look = Look.FAINT if cases < _FEW else Look.PLAIN
            rows.append(TableRow((over, judges, self.numbers.count(cases), *numbers), look))
        return self._list("agreement", columns, rows, words("adjudicated.agreement_counts", few=_FEW))

    def unusable(self) -> Table:
        """The rows that could not be used: the cell, what stands in it, why that cannot be used, and what to do."""
        return self._problems("unusable", self.run.unusable)

    def left_over(self) -> Table:
        """Rows that are gone, and what stands in the workbooks and belongs to no row."""
        return self._problems("left_over", self.run.left_over)

    def _problems(self, key: str, problems: Sequence[Problem]) -> Table:
        rows = []
        for problem in problems:
            name, _, place = _without_folders(problem.where).partition("!")
            sheet, _, cell = place.rpartition("!")
            rows.append(TableRow((name, sheet, cell, *self._reason(problem))))
        keys = ("file", "sheet", "cell", "found", "reason", "to_do")
        return self._list(key, self._columns(*keys, long=("reason", "to_do")), rows)

    def _reason(self, problem: Problem) -> tuple[str, str, str]:
        """What was found, why it cannot be used, what to do; rows have a reason, others speak for themselves."""
        if not isinstance(problem, RowProblem) or not problem.reason:
            return problem.found, problem.allowed, problem.remedy
        value = problem.value
        if value in SPAN_CHOICES:
            value = self.words[f"span_choice.{value}"]
        return value, self.words[f"unusable.{problem.reason}"], self.words[f"remedy.{problem.reason}"]

    # ---- help ----

    def _cases(self, entry: str) -> int:
        """How many cases turned out to be this."""
        return int(self.ledger.loc[entry, self.sheets].to_numpy().sum())

    def _text(self, count: float) -> str:
        return self.numbers.count(count).text

    def _columns(self, *keys: str, long: Sequence[str] = (), late: Sequence[str] = ()) -> tuple[Heading, ...]:
        """Headings by their keys: `long` ones hold sentences, `late` ones go first for want of room."""
        headings = []
        for key in keys:
            title = self.words.get(f"adjudicated.{key}") or self.words[f"column.{key}"]
            headings.append(Heading(title, long=key in long, rank=2 if key in late else 0))
        return tuple(headings)

    def _list(self, key: str, columns: tuple[Heading, ...], rows: Sequence[TableRow], note: str = "") -> Table:
        """A table that is a chapter of its own."""
        title, empty = self.words[f"adjudicated.{key}"], self.words[f"adjudicated.none_{key}"]
        return Table(title, columns, tuple(rows), (note,) if note else (), empty)


def _without_folders(place: str) -> str:
    """Where a row stands, without the folders of the machine that read it."""
    name, mark, rest = place.partition("!")
    return f"{PurePath(name).name}{mark}{rest}"
