"""Detectors that make predictions: what a detector is, which ones there are, and how they are run over documents."""

from clueval_xlsx.detectors.base import Description, Detection, Detector, DetectorSettings, Document

__all__ = ["Description", "Detection", "Detector", "DetectorSettings", "Document"]
