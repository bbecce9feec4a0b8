"""Whether the tests run where nobody watches, and what is missing there is a failure."""

from __future__ import annotations

import os

IN_CI = bool(os.environ.get("CI"))
