"""The records of the soak as a table, in docs/reliability.md between two marks."""
import json

BEGIN, END = "<!-- soak: written by run_scripts/measure/soak.sh --summary -->\n", "<!-- soak: end -->\n"


def read_records(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def said(record):
    counts = ", ".join(f"{name.replace('_', ' ')} {value:,}" if isinstance(value, int) else f"{name.replace('_', ' ')} {value}"
                       for name, value in record["counts"].items())
    if record["verdict"] == "failed":
        return "**failed**: " + record["finding"].split("\n")[0].replace("|", "\\|")[:160]
    if record["verdict"] == "not run":
        return "not run: " + record["reason"]
    return record["verdict"] + ("; " + counts if counts else "")


def table(records, parts):
    hours = sum(record["seconds"] for record in records) / 3600
    lines = [f"{len(records)} rounds, {hours:.1f} hours of parts in all.\n\n",
             "| part | what it does | minutes | rounds | failed | last round | its result |\n", "|---|---|---|---|---|---|---|\n"]
    for name, (text, _) in parts.items():
        own = [record for record in records if record["part"] == name]
        if not own:
            lines.append(f"| {name} | {text} | 0 | 0 | | | not run yet |\n")
            continue
        failed = sum(record["verdict"] == "failed" for record in own)
        minutes = sum(record["seconds"] for record in own) / 60
        last = own[-1]
        lines.append(f"| {name} | {text} | {minutes:.0f} | {len(own)} | {failed} | {last['date'][:10]} {last['commit']} | "
                     f"{said(last)} |\n")
    return "".join(lines)


def update(page, records, parts):
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + BEGIN + "\n" + table(records, parts) + "\n" + END + after, encoding="utf-8")
