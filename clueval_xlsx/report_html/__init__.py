"""The HTML report: one self-contained page for reading. It renders a result and computes no figure of its own."""

from clueval_xlsx.report_html.adjudication import adjudication_html
from clueval_xlsx.report_html.comparison import comparison_html
from clueval_xlsx.report_html.report import to_html

__all__ = ["adjudication_html", "comparison_html", "to_html"]
