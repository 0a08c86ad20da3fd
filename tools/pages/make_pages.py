#!/usr/bin/env python3
"""Makes man pages and completions for bash, zsh and fish from the pages of the tools.

Usage: make_pages.py DOCS_TOOLS_FOLDER OUTPUT_FOLDER VERSION

A page docs/tools/<tool>.md ends with what `<tool> --help` prints, as the tool declares its options; a test compares the
two. So nothing is declared twice.
"""
import dataclasses
import pathlib
import re
import sys
import textwrap

OPTION = re.compile(r"^ {2,6}(?:-(\w), )?--([a-z][a-z-]*)(?:\[=(\S+)\]| (\S+))?(?: {2,}(.*))?$")
FILES = re.compile(r"FILE|FOLDER|\.[a-z]+$|OUTPUT|CACHE|MATRIX", re.IGNORECASE)


@dataclasses.dataclass
class Option:
    letter: str
    name: str
    value: str  # as in the help, "" for a flag
    is_value_optional: bool
    text: str

    def words(self):
        """The values, where the help lists all of them."""
        return self.value.split("|") if "|" in self.value else []

    def is_listed(self):
        """Whether --list of the tool says which values there are."""
        return "--list" in self.text and bool(self.value) and "=" not in self.value

    def takes_files(self):
        return bool(FILES.search(self.value))

    def needs_value(self):
        return bool(self.value) and not self.is_value_optional


@dataclasses.dataclass
class Tool:
    name: str
    usage: str
    summary: str
    options: list
    examples: list  # (purpose, command)
    endings: str


def read_page(path):
    """The block after '## Options', four columns to the left."""
    block = path.read_text(encoding="utf-8").split("\n## Options\n")[1].lstrip("\n")
    lines = []
    for line in block.split("\n"):
        if line and not line.startswith("    "):
            break
        lines.append(line[4:])
    return parse_help(path.stem, "\n".join(lines))


def parse_help(name, text):
    head, rest = text.split("\noptions:\n")
    rest, endings = rest.split("\nexit codes: ")
    described, _, shown = rest.partition("\nexamples:\n")
    usage, _, summary = head.partition("\n\n")
    options = []
    for line in described.split("\n"):
        found = OPTION.match(line)
        if found:
            letter, option, optional, value, help_text = found.groups(default="")
            options.append(Option(letter, option, optional or value, bool(optional), help_text))
        elif line.strip():
            if not options or not line.startswith(" " * 20):
                sys.exit(f"make_pages.py: the help of {name} has a line that is no option: {line!r}")
            options[-1].text = f"{options[-1].text} {line.strip()}".strip()
    lines = [line.strip() for line in shown.split("\n") if line.strip()]
    examples = [(lines[i].removeprefix("# "), lines[i + 1]) for i in range(0, len(lines) - 1, 2)]
    return Tool(name, usage.removeprefix("usage: "), " ".join(summary.split()), options, examples, " ".join(endings.split()))


def roff(text):
    """Text for a man page: backslashes, hyphens and a dot or quote at the start of a line mean what they are."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(['.])", r"\\&\1", text, flags=re.M)


def man_page(tool, version):
    lines = [f'.TH {tool.name.upper()} 1 "" "csrkit {version}" "csrkit"', ".SH NAME",
             f"{roff(tool.name)} \\- {roff(tool.summary.split('. ')[0].rstrip('.'))}", ".SH SYNOPSIS", ".B " + roff(tool.usage),
             ".SH DESCRIPTION", roff(tool.summary), ".SH OPTIONS"]
    for option in tool.options:
        value = f"[={option.value}]" if option.is_value_optional else f" {option.value}" if option.value else ""
        letter = f"-{option.letter}, " if option.letter else ""
        lines += [".TP", f".B {roff(f'{letter}--{option.name}{value}')}", roff(option.text)]
    if tool.examples:
        lines.append(".SH EXAMPLES")
        for purpose, command in tool.examples:
            lines += [".TP", roff(purpose), ".B " + roff(command)]
    lines += [".SH EXIT STATUS", roff(tool.endings)]
    return "\n".join(lines) + "\n"


LISTED = "{tool} --list 2>/dev/null | sed -n '2,/^$/s/ .*//p'"


def bash_completion(tool):
    """Readline's COMPREPLY for names, values of options and files."""
    names = " ".join([f"--{option.name}" for option in tool.options] + [f"-{o.letter}" for o in tool.options if o.letter])
    cases = []
    for option in tool.options:
        pattern = f"--{option.name}" + (f" | -{option.letter}" if option.letter else "")
        if option.words():
            reply = f'COMPREPLY=($(compgen -W "{" ".join(option.words())}" -- "$word"))'
        elif option.is_listed():
            reply = f'COMPREPLY=($(compgen -W "$({LISTED.format(tool=tool.name)})" -- "$word"))'
        elif option.needs_value() and option.takes_files():
            reply = 'COMPREPLY=($(compgen -f -- "$word"))'
        elif option.needs_value():
            reply = "COMPREPLY=()"
        else:
            continue
        guard = "" if option.needs_value() else '[[ $has_equals == yes ]] && '
        cases.append(f"    {pattern}) {guard}{{ {reply}; return; }} ;;")
    return textwrap.dedent(f"""\
        # Completion of {tool.name} for bash.
        _{function(tool)}() {{
          local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} has_equals=no
          # '=' is a word of its own: --name = val
          if [[ $word == = ]]; then word= has_equals=yes; fi
          if [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD - 2]}} has_equals=yes; fi
          case $before in
        """) + "\n".join(cases) + textwrap.dedent(f"""
          esac
          if [[ $word == -* ]]; then
            COMPREPLY=($(compgen -W "{names}" -- "$word"))
          else
            COMPREPLY=($(compgen -f -- "$word"))
          fi
        }}
        complete -o filenames -F _{function(tool)} {tool.name}
        """)


def function(tool):
    return tool.name.replace("-", "_")


def zsh_completion(tool):
    def quoted(text):
        return re.sub(r"([\[\]:\\])", r"\\\1", text.replace("'", "’"))
    lines = []
    for option in tool.options:
        value = ""
        if option.value:
            if option.words():
                action = f"({' '.join(option.words())})"
            elif option.is_listed():
                action = '{compadd -- ${(f)"$(' + LISTED.format(tool=tool.name).replace("'", '"') + ')"}}'
            else:
                action = "_files" if option.takes_files() else " "
            value = f"{':' if option.is_value_optional else ''}:{quoted(option.value)}:{action}"
        equals = "=-" if option.is_value_optional else "=" if option.value else ""
        lines.append(f"'--{option.name}{equals}[{quoted(option.text)}]{value}'")
        if option.letter:
            lines.append(f"'-{option.letter}{'+' if option.value else ''}[{quoted(option.text)}]{value}'")
    return f"#compdef {tool.name}\n_arguments -S \\\n  " + " \\\n  ".join(lines + ["'*:file:_files'"]) + "\n"


def fish_completion(tool):
    def quoted(text):
        return text.replace("\\", "\\\\").replace("'", "\\'")
    lines = [f"# Completion of {tool.name} for fish."]
    for option in tool.options:
        line = f"complete -c {tool.name} -l {option.name}"
        if option.letter:
            line += f" -s {option.letter}"
        if option.needs_value():
            line += " -r" if option.takes_files() else " -x"
        if option.words():
            line += f" -a '{' '.join(option.words())}'"
        elif option.is_listed():
            line += f" -a '{quoted(f'({LISTED.format(tool=tool.name)})')}'"
        lines.append(line + f" -d '{quoted(option.text)}'")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    pages, output, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    for page in sorted(pages.glob("csr-*.md")):
        tool = read_page(page)
        for name, content in ((f"man/{tool.name}.1", man_page(tool, version)), (f"bash/{tool.name}", bash_completion(tool)),
                              (f"zsh/_{tool.name}", zsh_completion(tool)), (f"fish/{tool.name}.fish", fish_completion(tool))):
            path = output / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
