"""What the scripts of this folder share: records, data files, means and Markdown tables.

A data file is TSV: lines `# key: value` (machine, date, published, note), a line of headings, then one line
per row, each cell as it is printed. Records are JSON lines of csr-bench, plain or gzipped.
"""
import gzip
import json
import math


def read_records(path):
    """The JSON objects of a file, one per line; SystemExit names the line that is none."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except OSError as error:
        raise SystemExit(f"{path}: {error.strerror or error}; expected records of csr-bench --records")
    except (EOFError, UnicodeDecodeError) as error:
        raise SystemExit(f"{path}: {error}; expected records of csr-bench --records")
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise SystemExit(f"{path}:{number}: no record of csr-bench")
        records.append(record)
    return records


def read_tsv(path):
    """(facts, rows): the `# key: value` lines as a dict, the rows as dicts by heading."""
    facts, headings, rows = {}, None, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            key, colon, value = line[1:].partition(":")
            if colon:
                facts[key.strip()] = value.strip()
            continue
        cells = line.split("\t")
        if headings is None:
            headings = cells
            continue
        if len(cells) != len(headings):
            raise SystemExit(f"{path}:{number}: {len(cells)} cells under {len(headings)} headings")
        rows.append(dict(zip(headings, cells)))
    if headings is None:
        raise SystemExit(f"{path}: no line of headings")
    return facts, rows


def write_tsv(path, facts, headings, rows):
    lines = [f"# {key}: {value}" for key, value in facts.items()] + ["\t".join(row) for row in [headings, *rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def number(text):
    """The number at the start of a cell, or None: '1,234' is 1234, '1.37 RoDe' is 1.37, '-' is None."""
    try:
        return float(text.split()[0].replace(",", ""))
    except (ValueError, IndexError):
        return None


def geometric_mean(numbers):
    """None if there is no number. Zeros and None do not count."""
    numbers = [x for x in numbers if x]
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else None


def markdown(headings, rows):
    """A table of texts. Columns of numbers are aligned to the right."""
    def is_number(column):
        texts = [row[column] for row in rows if row[column] not in ("", "-")]
        return bool(texts) and sum(number(text.strip("*")) is not None for text in texts) > len(texts) / 2
    rules = ["---:" if column and is_number(column) else "---" for column in range(len(headings))]
    lines = ["| " + " | ".join(headings) + " |", "|" + "|".join(rules) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def fill(page, begin, table):
    """The text of a page with `table` between the line `begin` and the next line <!-- end -->."""
    at = page.find(begin + "\n")
    end = page.find("<!-- end -->", at)
    if at < 0 or end < 0:
        raise ValueError(f"has no place for the table: {begin} and <!-- end -->")
    at += len(begin) + 1
    return page[:at] + table + page[end:]
