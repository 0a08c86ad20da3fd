"""Opens a matrix, multiplies it with a dense one, and prints the first row of the product.

    python multiply.py MATRIX.csr [DENSE_COLS]

Needs nothing but csrkit: arrays of Python's standard library will do. NumPy, PyTorch or CuPy arrays go in the same way.
"""
import array
import sys

import csrkit


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: multiply.py MATRIX.csr [DENSE_COLS]")
    a = csrkit.open(sys.argv[1])
    dense_cols = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    kind = "d" if a.kind == "f64" else "f"  # B has the matrix's kind
    elements = array.array(kind, list(range(1, dense_cols + 1)) * a.shape[1])
    b = memoryview(elements).cast("B").cast(kind, (a.shape[1], dense_cols))

    c = csrkit.spmm(a, b)  # the first call analyses the matrix, later ones multiply only

    row = " ".join(f"{c[0, j]:g}" for j in range(dense_cols))
    print(f"{a.shape[0]} x {a.shape[1]}, {a.nnz} nonzeros; row 0 of the product: {row}")


if __name__ == "__main__":
    try:
        main()
    except csrkit.Error as error:
        sys.exit(f"multiply.py: error: {error}")
