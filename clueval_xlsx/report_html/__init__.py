"""The HTML report: one self-contained page for reading. It renders a result and computes no figure of its own."""

from clueval_xlsx.report_html.report import confusion_html, to_html

__all__ = ["confusion_html", "to_html"]
