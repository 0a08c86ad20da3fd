"""What the scripts of this folder share: records, data files, means and Markdown tables.

A data file is TSV: lines `# key: value` (machine, date, published, note), a line of headings, then one line
per row, each cell as it is printed. Records are JSON lines of csr-bench, plain or gzipped.
"""
import gzip
import json
import math
import pathlib
import statistics


def add_force(parser):
    parser.add_argument("--force", action="store_true", help="replace outputs that exist already")


def require_new(parser, options, *outputs):
    """Exit code 2 if one of the outputs (None: not wanted) exists and --force was not given."""
    for output in outputs:
        if output is not None and pathlib.Path(output).exists() and not options.force:
            parser.error(f"{output} exists already; --force replaces it")


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


def median_interval(numbers):
    """(median, low, high): between low and high lies the true median, with a confidence of 95 %, by ranks alone."""
    numbers = sorted(numbers)
    below = math.floor(len(numbers) / 2 - 1.96 * math.sqrt(len(numbers)) / 2)
    low = max(below - 1, 0)
    return statistics.median(numbers), numbers[low], numbers[-1 - low]


def speed_up(other, ours):
    """(times as fast, low, high) of two records; without low and high if records kept no samples.

    Records of the same rounds are compared pair by pair: what disturbed one sample disturbed the other. Else the
    relative widths of the medians' intervals add up as squares, on the scale of logarithms.
    """
    above, below = other.get("samples_seconds"), ours.get("samples_seconds")
    if not above or not below:
        return other["median_seconds"] / ours["median_seconds"], None, None
    rounds = [record.get("turns", {}).get("id") for record in (other, ours)]
    if rounds[0] and rounds[0] == rounds[1] and len(above) == len(below):
        return median_interval([a / b for a, b in zip(above, below)])
    top, top_low, top_high = median_interval(above)
    bottom, bottom_low, bottom_high = median_interval(below)
    down = math.hypot(math.log(bottom_high / bottom), math.log(top / top_low))
    up = math.hypot(math.log(bottom / bottom_low), math.log(top_high / top))
    return top / bottom, top / bottom * math.exp(-down), top / bottom * math.exp(up)


def interval_cell(speed):
    """'1.72..1.80', with 'level' where nobody can say who is faster."""
    if speed[1] is None:
        return "-"
    return f"{speed[1]:.2f}..{speed[2]:.2f}" + (" level" if is_level(speed) else "")


def is_level(speed):
    return speed[1] is not None and speed[1] <= 1 <= speed[2]


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
