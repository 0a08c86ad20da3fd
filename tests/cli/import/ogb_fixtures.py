"""Data sets in the layouts of the Open Graph Benchmark, small; and what csr-import must make of them.

Usage: ogb_fixtures.py make                 fixtures/<name>/..., fixtures/<download name>.zip
       ogb_fixtures.py compare FILE DATASET [RELATION]
                                            FILE.npz is the data set, by the rules of its page
       ogb_fixtures.py package FILE DATASET [RELATION]
                                            FILE.npz is what the ogb package itself reads
       ogb_fixtures.py inverse              lists every data set of the package: folder names, inverse or not
"""
import gzip
import importlib.util
import os
import pathlib
import sys
import types
import zipfile

import numpy
import scipy.sparse

ROOT = pathlib.Path("fixtures")
KINDS = {"paper": 7, "author": 4, "institution": 2}
RELATIONS = [("author", "affiliated_with", "institution"), ("author", "writes", "paper"), ("paper", "cites", "paper")]
# folder -> (download name, adds the inverse, nodes of each graph, edges of each graph)
SETS = {
    "ogbn_arxiv": ("arxiv", False, [9], [14]),
    "ogbl_collab": ("collab", True, [8], [12]),
    "ogbl_ddi": ("ddi", True, [6], [9]),
    "ogbn_papers100M": ("papers100M-bin", False, [10], [20]),
    "ogbl_vessel": ("vessel", False, [11], [15]),
    "ogbg_molhiv": ("hiv", True, [3, 1, 5, 2], [2, 0, 6, 1]),
    "ogbg_code2": ("code2", False, [4, 3], [5, 3]),
    "ogbn_mag": ("mag", False, None, None),
}
BINARY = ("ogbn_papers100M", "ogbl_vessel")


def edges_of(name, rows, cols, count, with_loops):
    """Some of them twice; the last node stays isolated where there are more than two."""
    random = numpy.random.default_rng(sum(name.encode()))
    edges = numpy.stack([random.integers(0, max(1, rows - (rows > 2)), count),
                         random.integers(0, max(1, cols - (cols > 2)), count)])
    if not with_loops:
        edges[1][edges[0] == edges[1]] = cols - 1
    if count > 3:
        edges[:, 1] = edges[:, 0]
    return edges


def table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(",".join(map(str, row)) + "\n" for row in rows)


def graphs_of(folder):
    _, _, nodes, edges = SETS[folder]
    return [edges_of(f"{folder}{i}", n, n, e, folder != "ogbl_collab") for i, (n, e) in enumerate(zip(nodes, edges))]


def make(folder):
    raw = ROOT / folder / "raw"
    if folder == "ogbn_mag":
        table(raw / "num-node-dict.csv.gz", [KINDS, KINDS.values()])
        table(raw / "triplet-type-list.csv.gz", RELATIONS)
        for head, relation, tail in RELATIONS:
            place = raw / "relations" / f"{head}___{relation}___{tail}"
            edges = edges_of(relation, KINDS[head], KINDS[tail], 6, True)
            table(place / "edge.csv.gz", edges.T)
            table(place / "num-edge-list.csv.gz", [[6]])
            table(place / "edge_reltype.csv.gz", [[0]] * 6)
        table(raw / "node-feat" / "paper" / "node_year.csv.gz", [[2000]] * KINDS["paper"])
        table(ROOT / folder / "split" / "time" / "paper" / "train.csv.gz", [[0], [1], [2]])
        return
    _, _, nodes, counts = SETS[folder]
    edges = numpy.concatenate(graphs_of(folder), axis=1)
    if folder in BINARY:
        raw.mkdir(parents=True)
        numpy.savez_compressed(raw / "data.npz", edge_index=edges, num_nodes_list=nodes, num_edges_list=counts,
                               node_year=numpy.zeros((sum(nodes), 1)))
        return
    table(raw / "edge.csv.gz", edges.T)
    table(raw / "num-node-list.csv.gz", [[n] for n in nodes])
    table(raw / "num-edge-list.csv.gz", [[n] for n in counts])
    for extra in ("node_year", "node_is_attributed", "node_dfs_order", "node_depth"):
        table(raw / f"{extra}.csv.gz", [[i] for i in range(sum(nodes))])
    if folder == "ogbl_collab":
        table(raw / "edge_weight.csv.gz", [[i + 1] for i in range(sum(counts))])
        table(raw / "edge_year.csv.gz", [[2000]] * sum(counts))
    table(ROOT / folder / "split" / "time" / "train.csv.gz", [[0], [1]])
    table(ROOT / folder / "split" / "time" / "test.csv.gz", [[2]])


def pack(folder):
    """As it is downloaded: one folder of the download name."""
    with zipfile.ZipFile(ROOT / f"{SETS[folder][0]}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((ROOT / folder).rglob("*")):
            archive.write(path, pathlib.Path(SETS[folder][0]) / path.relative_to(ROOT / folder))


def matrix(edges, rows, cols, weights=None):
    values = numpy.ones(edges.shape[1]) if weights is None else weights
    return scipy.sparse.csr_matrix((values, (edges[0], edges[1])), shape=(rows, cols))


def stacked(relations, kinds):
    """All relations as one matrix, kinds in alphabetical order."""
    first, nodes = {}, 0
    for kind in sorted(kinds):
        first[kind], nodes = nodes, nodes + kinds[kind]
    edges = [numpy.array([e[0] + first[h], e[1] + first[t]]) for (h, _, t), e in relations.items()]
    return matrix(numpy.concatenate(edges, axis=1), nodes, nodes)


def by_the_rules(folder, relation):
    if folder == "ogbn_mag":
        edges = {r: edges_of(r[1], KINDS[r[0]], KINDS[r[2]], 6, True) for r in RELATIONS}
        if relation == "all":
            return stacked(edges, KINDS)
        triplet = tuple(relation.split("___"))
        return matrix(edges[triplet], KINDS[triplet[0]], KINDS[triplet[2]])
    _, adds_inverse, nodes, counts = SETS[folder]
    weights = numpy.arange(sum(counts)) + 1.0 if folder == "ogbl_collab" else None
    blocks, at = [], 0
    for edges, n, e in zip(graphs_of(folder), nodes, counts):
        block = matrix(edges, n, n, None if weights is None else weights[at:at + e])
        blocks.append(block + block.T if adds_inverse else block)
        at += e
    return scipy.sparse.block_diag(blocks, "csr")


def package():
    """ogb.io without its __init__, which asks for torch."""
    place = importlib.util.find_spec("ogb").submodule_search_locations[0]
    module = types.ModuleType("ogb.io")
    module.__path__ = [os.path.join(place, "io")]
    sys.modules["ogb.io"] = module
    from ogb.io import read_graph_raw
    import pandas
    tasks = {task: pandas.read_csv(os.path.join(place, task, "master.csv"), index_col=0)
             for task in ("nodeproppred", "linkproppred", "graphproppred")}
    facts = {name: dict(rows[name]) for rows in tasks.values() for name in rows.columns}
    return read_graph_raw, facts


def by_the_package(folder, relation):
    reader, facts = package()
    own = facts[folder.replace("_", "-")]
    raw, inverse = str(ROOT / folder / "raw"), own["add_inverse_edge"] in ("True", True)

    def files(key):
        names = own.get(key)
        return [] if not isinstance(names, str) or names == "None" else names.split(",")
    extra = files("additional node files"), files("additional edge files")
    if own.get("is hetero") == "True":
        graph, = reader.read_csv_heterograph_raw(raw, inverse, *extra)
        if relation == "all":
            return stacked(graph["edge_index_dict"], graph["num_nodes_dict"])
        triplet = tuple(relation.split("___"))
        sizes = [graph["num_nodes_dict"][triplet[i]] for i in (0, 2)]
        return matrix(graph["edge_index_dict"][triplet], *sizes)
    graphs = (reader.read_binary_graph_raw(raw, inverse) if own["binary"] == "True"
              else reader.read_csv_graph_raw(raw, inverse, *extra))
    return scipy.sparse.block_diag([
        matrix(g["edge_index"], g["num_nodes"], g["num_nodes"],
               g["edge_weight"].ravel() if "edge_weight" in g else None) for g in graphs], "csr")


def compare(file, expected, is_weighted):
    found = scipy.sparse.load_npz(file + ".npz").astype(float)
    expected.sum_duplicates()
    if not is_weighted:
        expected.data[:] = 1
    if found.shape != expected.shape or abs(found - expected).nnz > 0:
        sys.exit(f"{file}: {found.shape}, {found.nnz} entries\n{found.toarray()}\nexpected {expected.shape}\n"
                 f"{expected.toarray()}")


def main():
    words = sys.argv[1:]
    if words[0] == "make":
        for folder in SETS:
            make(folder)
            pack(folder)
    elif words[0] == "inverse":
        for name, own in package()[1].items():
            print(name.replace("-", "_"), own["download_name"], str(own["add_inverse_edge"]).lower())
    else:
        reader = by_the_rules if words[0] == "compare" else by_the_package
        compare(words[1], reader(words[2], words[3] if len(words) > 3 else ""), words[2] == "ogbl_collab")


main()
