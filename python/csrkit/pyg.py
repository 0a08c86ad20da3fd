"""Layers of PyTorch Geometric that sum over neighbours by csrkit.

    conv = csrkit.pyg.adapt(SAGEConv(128, 256, aggr="mean"), a)
    y = conv(x, None)               # a takes the place of edge_index

Works with layers whose messages are their neighbours' features, with or without weights: GCNConv (normalize=False, and
a normalised graph in a), SAGEConv, GINConv, GraphConv and others of their kind.
"""
from .errors import UsageError
from .matrix import Matrix
from .torch import spmm

_REDUCTIONS = {"add": "sum", "sum": "sum", "mean": "mean", "max": "max"}


def adapt(layer, a: Matrix):
    """The layer itself, which from now on adds up by a: row i of a holds the neighbours whose features node i receives.

    An edge_weight that is given to the layer takes the place of a's values. Raises UsageError for a layer with another
    reduction than add, mean or max.
    """
    reduce = _REDUCTIONS.get(layer.aggr if isinstance(layer.aggr, str) else None)
    if reduce is None:
        raise UsageError(f"the layer's aggr is {layer.aggr!r}; use add, mean or max")

    def propagate(edge_index, size=None, *, x, edge_weight=None, **rest):
        if edge_index is not None or any(value is not None for value in rest.values()):
            raise UsageError("an adapted layer takes its edges from a: pass None as edge_index, and no edge attributes")
        return spmm(a, x[0] if isinstance(x, tuple) else x, edge_weight, reduce=reduce)
    layer.propagate = propagate
    return layer
