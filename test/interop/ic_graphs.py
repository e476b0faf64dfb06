"""Graphs by networkx: `write FOLDER` makes files, `read FILE…` says what is in them, as networkx sees it."""
import json
import sys
from pathlib import Path

import networkx as nx
import numpy as np


def write(folder):
    rng = np.random.default_rng(5)
    graph = nx.gnm_random_graph(200, 500, seed=5)
    for node in graph:
        x, y, z = (rng.random(3) * 100).tolist()
        graph.nodes[node].update(x=x, y=y, z=z, layer=int(rng.integers(1, 7)), kind=f"<{node % 3}> & co", big=2**53 + 1 + node)
    for a, b in graph.edges:
        graph.edges[a, b].update(weight=float(rng.random()), on=bool(rng.integers(2)))
    nx.write_graphml_xml(graph, folder / "a.graphml")
    with open(folder / "a.edges", "wb") as out:
        for node, data in graph.nodes(data=True):
            out.write(f"# node {node} {data['x']!r} {data['y']!r} {data['z']!r}\n".encode())
        nx.write_weighted_edgelist(graph, out)


def told(path):
    if path.suffix == ".graphml":
        graph = nx.read_graphml(path)
    else:
        graph = nx.read_weighted_edgelist(path)
    nodes = {str(node): {k: str(v) for k, v in data.items() if k != "object_id"} for node, data in graph.nodes(data=True)}
    edges = sorted([*sorted([str(a), str(b)]), {k: str(v) for k, v in data.items()}] for a, b, data in graph.edges(data=True))
    return {"nodes": dict(sorted(nodes.items())), "edges": edges}


if sys.argv[1] == "write":
    write(Path(sys.argv[2]))
else:
    print(json.dumps({Path(name).name: told(Path(name)) for name in sys.argv[2:]}))
