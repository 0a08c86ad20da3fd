"""METIS from many threads of one interpreter. Needs nothing but the package."""
import array
import threading

import csrkit


def ring(n):
    """Every row names its two neighbours."""
    columns = [c for i in range(n) for c in sorted(((i - 1) % n, (i + 1) % n))]
    return csrkit.from_arrays((n, n), array.array("q", range(0, 2 * n + 1, 2)), array.array("i", columns))


def order(matrix):
    return bytes(matrix.reorder("metis-partition", parts=8).row_order)


matrix = ring(1000)
expected = order(matrix)
found = []
threads = [threading.Thread(target=lambda: found.append(order(matrix))) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert found == [expected] * 4, "orders differ"
assert sorted(memoryview(expected).cast("i")) == list(range(1000)), "no order"
print("metis_test: passed")
