"""Options of the commands that can work on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli.idle_options import refuse_idle
from clueval_xlsx.cli.parameters import NumberRange, group

if TYPE_CHECKING:
    from clueval_xlsx.clusters import ClusterPlace

CLUSTER = [
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on the Dask cluster of this scheduler (tcp://HOST:8786), or on one that is started here for the "
        "length of the run (local:4). The result is the same.",
    ),
    click.option(
        "--cluster-tls",
        metavar="FILE",
        help="PEM file for an encrypted cluster: the authority's certificate, one's own, and its key.",
    ),
    click.option(
        "--cluster-wait",
        type=NumberRange(0, min_open=True),
        default=600.0,
        show_default=True,
        metavar="SECONDS",
        help="A cluster that has no worker is waited for so long, at the start and when all have died.",
    ),
]


def cluster_place(given: Mapping[str, Any]) -> ClusterPlace | None:
    """Where the cluster is, if one is wanted."""
    if given["cluster"] is None:
        refuse_idle(["cluster_tls", "cluster_wait"], "--cluster")
        return None
    from clueval_xlsx.clusters import ClusterPlace

    return ClusterPlace(given["cluster"], given["cluster_tls"], given["cluster_wait"])


def _place(**given: Any) -> ClusterPlace | None:
    return cluster_place(given)


clustered = group("cluster", _place, CLUSTER)
