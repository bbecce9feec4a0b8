"""UIMA CAS: XMI, CAS JSON, WebAnno TSV and the project exports of INCEpTION."""
