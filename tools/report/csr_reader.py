"""Maps a .csr file: what pictures need of it, in chunks, whatever its size."""
import os

import numpy as np

CHUNK = 1 << 20  # entries at a time


class CsrArrays:
    def __init__(self, path):
        self.path = path
        header = np.fromfile(path, np.uint8, 4096).tobytes()
        if len(header) < 4096 or header[:8] != b"\x89CSR\r\n\x1a\n":
            raise ValueError(f"{path}: not a .csr file")
        self.rows, self.cols, self.nnz, file_bytes = np.frombuffer(header, "<u8", 4, 32).tolist()
        sections = int(np.frombuffer(header, "<u8", 7, 32)[6])
        if os.path.getsize(path) != file_bytes or max(self.rows, self.cols, self.nnz) > file_bytes + 2**31:
            raise ValueError(f"{path}: truncated or extended")
        offsets = {}
        for slot in range(min(sections, 100)):
            at = 128 + 32 * slot
            offsets[header[at:at + 16].rstrip(b"\0")] = int(np.frombuffer(header, "<u8", 1, at + 16)[0])
        for name, size in ((b"row_offsets", 8 * (self.rows + 1)), (b"col_indices", 4 * self.nnz)):
            if offsets.get(name, file_bytes) + size > file_bytes and size:
                raise ValueError(f"{path}: no whole section {name.decode()}")
        self.row_offsets = np.memmap(path, "<i8", "r", offsets[b"row_offsets"], self.rows + 1)
        self.col_indices = (np.memmap(path, "<i4", "r", offsets[b"col_indices"], self.nnz) if self.nnz
                            else np.empty(0, "<i4"))

    def check(self):
        """Raises ValueError unless rows and columns are where they can be: pictures count on it."""
        lengths = self.row_lengths()
        if self.row_offsets[0] != 0 or self.row_offsets[-1] != self.nnz or (lengths.size and lengths.min() < 0):
            raise ValueError(f"{self.path}: row offsets that do not ascend from 0 to the number of nonzeros")
        for first in range(0, self.nnz, CHUNK):
            columns = self.col_indices[first:first + CHUNK]
            if columns.min() < 0 or columns.max() >= self.cols:
                raise ValueError(f"{self.path}: a column beyond the {self.cols} that there are")

    def row_lengths(self):
        return np.diff(self.row_offsets)

    def density(self, height, width):
        """Nonzeros per cell of a grid of height x width, exact."""
        height, width = min(height, max(self.rows, 1)), min(width, max(self.cols, 1))
        counts = np.zeros(height * width, np.int64)
        for first in range(0, self.nnz, CHUNK):
            last = min(first + CHUNK, self.nnz)
            top = int(np.searchsorted(self.row_offsets, first, "right")) - 1
            bottom = int(np.searchsorted(self.row_offsets, last, "left"))
            ends = np.clip(self.row_offsets[top:bottom + 1], first, last)
            cell_rows = np.arange(top, bottom, dtype=np.int64) * height // max(self.rows, 1)
            cells = np.repeat(cell_rows * width, np.diff(ends))
            cells += self.col_indices[first:last].astype(np.int64) * width // max(self.cols, 1)
            counts += np.bincount(cells, minlength=counts.size)
        return counts.reshape(height, width)
