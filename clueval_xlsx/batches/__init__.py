"""Scores of a folder of any size: batches of files, counted one after the other or on a cluster, added up."""
