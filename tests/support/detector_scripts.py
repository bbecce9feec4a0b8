"""Small detectors for the tests: programs that behave, crash, hang and talk nonsense, and a Python package."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

GOOD = r"""
import json, re, sys
for line in sys.stdin:
    document = json.loads(line)
    words = re.finditer("[A-Z][a-z]+", document["text"])
    spans = [{"start": m.start(), "end": m.end(), "label": "NAME", "score": 0.5} for m in words]
    print(json.dumps({"id": document["id"], "spans": spans}), flush=True)
"""

# The same, a tenth of a second for each document.
SLOW = GOOD.replace("for line in sys.stdin:", "import time\nfor line in sys.stdin:\n    time.sleep(0.1)")

# What a document's own text asks for: each word in capitals is one way to go wrong.
MOODY = r"""
import json, os, re, sys, time
for line in sys.stdin:
    document = json.loads(line)
    text = document["text"]
    if "CRASH" in text:
        print("out of coffee", file=sys.stderr)
        sys.exit(7)
    if "ABORT" in text:
        os.abort()
    if "LEAVE" in text:
        sys.exit(0)
    if "HANG" in text:
        time.sleep(600)
    answer = {"id": document["id"], "spans": [{"start": 0, "end": 1, "label": "X"}]}
    if "ERROR" in text:
        answer = {"id": document["id"], "error": "too long"}
    if "BEYOND" in text:
        answer["spans"][0]["end"] = 10_000
    if "BACKWARD" in text:
        answer["spans"][0].update(start=3, end=2)
    if "FLOAT" in text:
        answer["spans"][0]["start"] = 0.5
    if "UNLABELLED" in text:
        del answer["spans"][0]["label"]
    if "NOT A NUMBER" in text:
        answer["spans"][0]["score"] = float("nan")
    if "HUGE" in text:
        answer["spans"][0]["score"] = 10**400
    if "OTHER" in text:
        answer["id"] = "somebody else"
    if "NAMELESS" in text:
        del answer["id"]
    if "SPANLESS" in text:
        del answer["spans"]
    if "LIST" in text:
        answer = [1, 2]
    if "GARBAGE" in text:
        print("Loading model ...", flush=True)
    print(json.dumps(answer), flush=True)
"""

# One find, as long as the text: an answer that lands with another document shows. TWICE says it once more.
LENGTHS = r"""
import json, sys
for line in sys.stdin:
    document = json.loads(line)
    answer = {"id": document["id"], "spans": [{"start": 0, "end": len(document["text"]), "label": "X"}]}
    print(json.dumps(answer), flush=True)
    if "TWICE" in document["text"]:
        print(json.dumps(answer), flush=True)
    if "NOISE" in document["text"]:
        print(json.dumps({"spans": []}), flush=True)
"""

# Answers for the document before again and again, where ENDLESS stands.
ENDLESS = r"""
import json, sys
for line in sys.stdin:
    while "ENDLESS" in line:
        print(before)
    before = json.dumps({"id": json.loads(line)["id"], "spans": []})
    print(before, flush=True)
"""

# The names of the environment's variables, as labels.
ENVIRONMENT = r"""
import json, os, sys
for line in sys.stdin:
    document = json.loads(line)
    spans = [{"start": 0, "end": 1, "label": name} for name in os.environ]
    print(json.dumps({"id": document["id"], "spans": spans}), flush=True)
"""

ONE_SHOT = r"""
import json, sys
document = json.loads(sys.stdin.readline())
print(json.dumps({"id": document["id"], "spans": [{"start": 0, "end": 1, "label": "X"}]}), flush=True)
"""

PACKAGE = r"""
import os, re, time
from clueval_xlsx.detectors.base import Description, Detection, configuration_hash
from clueval_xlsx.exceptions import DetectorError


def make(settings):
    if settings.language == "xx":
        raise DetectorError("capitals: no such language. Choose another.")
    if settings.language == "yy":
        raise RuntimeError("model file is damaged")
    if settings.language == "zz":
        os._exit(9)
    return Capitals(settings)


class Capitals:
    def __init__(self, settings):
        self.settings = settings

    def describe(self):
        batch = int(self.settings.options.get("batch", 1))
        return Description("capitals", "2.0", self.settings.language, configuration_hash(self.settings),
                           entities=("NAME",), batch_size=batch)

    def analyse(self, texts):
        print("a library that talks on standard output")
        for text in texts:
            if "RAISE" in text:
                raise ValueError("cannot stand this text")
            if "EXIT" in text:
                os._exit(3)
            if "HANG" in text:
                time.sleep(600)
        if texts == ["ENVIRONMENT"]:
            return [[Detection(0, 1, name) for name in os.environ]]
        return [[Detection(m.start(), m.end(), "NAME", 0.5) for m in re.finditer("[A-Z][a-z]+", text)]
                for text in texts]
"""

ENTRY_POINTS = "[clueval_xlsx.detectors]\ncapitals = capitals_detector:make\n"


def command(folder: Path, script: str, name: str = "detector.py") -> str:
    """A script on disk as a `command:` detector."""
    path = folder / name
    path.write_text(script, "utf-8")
    return f"command:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def install_package(folder: Path) -> Path:
    """A package with an entry point, laid out the way pip does; put the folder on sys.path to use it."""
    (folder / "capitals_detector.py").write_text(PACKAGE, "utf-8")
    metadata = folder / "capitals_detector-2.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: capitals-detector\nVersion: 2.0\n", "utf-8")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS, "utf-8")
    return folder


# Starts a helper in a session of its own, which keeps all its pipes open: a server, a browser's driver.
DETACHING = r"""
import json, subprocess, sys
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
with open("helper", "a") as file:
    print(helper.pid, file=file)
for line in sys.stdin:
    document = json.loads(line)
    if "CRASH" in document["text"]:
        print("out of coffee", file=sys.stderr)
        sys.exit(7)
    print(json.dumps({"id": document["id"], "spans": []}), flush=True)
"""

# As sitecustomize.py on a worker's path.
SLOW_READER = """
import pathlib, time
read = pathlib.Path.read_bytes
def slow(path):
    time.sleep(0.1)
    pathlib.Path("begun").touch()
    return read(path)
pathlib.Path.read_bytes = slow
"""
