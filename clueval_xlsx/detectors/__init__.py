"""Detectors that make predictions: what an engine is, which ones there are, and how they are run over documents."""

from clueval_xlsx.detectors.base import Description, Detection, Document, Engine, EngineSettings

__all__ = ["Description", "Detection", "Document", "Engine", "EngineSettings"]
