"""How the tests run: where nobody watches, so that what is missing is a failure, and how thoroughly."""

from __future__ import annotations

import os

IN_CI = bool(os.environ.get("CI"))
# `nox --sessions properties`: every case of a sweep of which the usual run tries some.
THOROUGH = bool(os.environ.get("CLUEVAL_THOROUGH"))
# A test that needs LibreOffice, Chromium or an optional part must run: skipping it is a failure.
PROGRAMS_REQUIRED = bool(os.environ.get("CLUEVAL_REQUIRE_PROGRAMS"))
