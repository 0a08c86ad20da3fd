"""Maps a .csr file: what pictures need of it, in chunks, whatever its size."""
import os

import numpy as np

CHUNK = 1 << 24  # entries at a time


class CsrArrays:
    def __init__(self, path):
        header = np.fromfile(path, np.uint8, 4096).tobytes()
        if len(header) < 4096 or header[:8] != b"\x89CSR\r\n\x1a\n":
            raise ValueError(f"{path}: not a .csr file")
        self.rows, self.cols, self.nnz, file_bytes = np.frombuffer(header, "<u8", 4, 32).tolist()
        sections = int(np.frombuffer(header, "<u8", 7, 32)[6])
        if os.path.getsize(path) != file_bytes:
            raise ValueError(f"{path}: truncated or extended")
        for slot in range(sections):
            at = 128 + 32 * slot
            name = header[at:at + 16].rstrip(b"\0").decode()
            offset = int(np.frombuffer(header, "<u8", 1, at + 16)[0])
            if name == "row_offsets":
                self.row_offsets = np.memmap(path, "<i8", "r", offset, self.rows + 1)
            elif name == "col_indices":
                self.col_indices = np.memmap(path, "<i4", "r", offset, self.nnz) if self.nnz else np.empty(0, "<i4")

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
