"""Options, messages and exit codes, in the words of the other tools."""
import contextlib
import difflib
import errno
import os
import signal
import sys
import traceback

from report.printable import printable_lines

TOOL = "csr-report"
DONE, INCOMPLETE, USAGE, BAD_INPUT, IO_FAILURE, NO_MEMORY, INTERNAL = 0, 1, 2, 3, 4, 5, 70

#          name             placeholder   short  help
OPTIONS = (
    ("output", "FILE.html", "o", "the page; one file that needs no network (default: report.html)"),
    ("markdown", "FILE.md", "", "write the tables as Markdown too"),
    ("csv", "FILE.csv", "", "write every case as one line of comma-separated values too"),
    ("figures", "FOLDER", "", "write every figure as an SVG file too"),
    ("force", "", "", "replace outputs that exist already"),
    ("kernel", "NAME", "", "ours, as in the records (default: gpu.spmm.auto, else cpu.spmm.auto)"),
    ("against", "NAME", "", "what it is compared with (default: a vendor's kernel, else row_loop)"),
    ("title", "TEXT", "", "heading of the page (default: Sparse products, measured)"),
    ("no-pictures", "", "", "leave out row lengths and spy plots: matrices are not read again"),
    ("no-html", "", "", "no page: only what --markdown, --csv and --figures ask for"),
    ("list", "", "", "print what there is to choose from, and exit"),
    ("json", "", "", "print the report as JSON on stdout"),
    ("quiet", "", "", "no report, no progress, errors only"),
    ("verbose", "", "", "say on stderr what this runs on, and why"),
    ("help", "", "h", "print this text, and exit"),
    ("version", "", "", "print the version and what it was built with, and exit"),
)
SECTIONS = (
    ("summary", "the mean with its interval, wins and losses, what is missing, every case in one figure"),
    ("table", "times, speed-up with its interval, verdict, nonzeros per second"),
    ("rate", "GFLOP/s over the dense columns, per matrix and kernel"),
    ("roofline", "every case under the limit that csr-probe measured"),
    ("ladder", "the kernels from the first idea to the one that users run"),
    ("reordering", "what an order costs, gains, and after how many products it pays"),
    ("row lengths", "how many rows are how long"),
    ("spy plots", "where the nonzeros are, before and after reordering"),
    ("schedules", "how rows are shared out among threads: OpenMP schedules, chunks, unrolled widths"),
    ("heat maps", "time over two parameters of a kernel, from a grid search"),
    ("solves", "residual norms of csr-solve-* over the iterations"),
    ("machines", "where it was measured, with which commands, and what went wrong"),
)
EXAMPLES = (
    ("csr-report out.jsonl --markdown table.md", "a page, and its table for a README"),
    ("csr-report out.jsonl --no-html --figures pictures", "only the figures, as SVG"),
)
# How names of outputs may end; an ending of another kind of file is refused, any other name is taken.
ENDINGS = {"output": (".html", ".htm"), "markdown": (".md", ".markdown", ".txt"), "csv": (".csv",)}
OTHER_ENDINGS = (".pdf", ".svg", ".png", ".jpg", ".jpeg", ".json", ".jsonl", ".gz", ".zip", ".tsv", ".docx", ".odt", ".xlsx", ".ods",
                 ".tex", ".csr", ".npy", ".npz", ".mtx")
USAGE_LINE = "BUNDLE.jsonl... [options]"


class UsageError(Exception):
    pass


class InputError(Exception):
    pass


class Options:
    def __init__(self, values, names):
        self.inputs = names
        self.kernel = values.get("kernel", "")
        self.against = values.get("against", "")
        self.title = values.get("title", "Sparse products, measured")
        self.markdown = values.get("markdown")
        self.csv = values.get("csv")
        self.figures = values.get("figures")
        self.output = None if "no-html" in values else values.get("output", "report.html")
        self.may_replace = "force" in values
        self.draws_matrices = "no-pictures" not in values
        self.as_json = "json" in values
        self.is_verbose = "verbose" in values
        self.is_quiet = "quiet" in values
        self.prints = self.as_json or not self.is_quiet

    def needs_figures(self):
        return bool(self.output or self.figures)

    def say(self, kind, message):
        """Information and warnings; errors are said whatever the options."""
        if not self.is_quiet:
            say(kind, message)


def say(kind, message):
    try:
        print(f"{TOOL}: {kind}: {printable_lines(message)}", file=sys.stderr)
    except OSError:  # who does not want to hear it is told by the exit code, which Python would change as it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def show(text):
    """On standard output. What did not reach its reader is a failure."""
    if not text:
        return  # Python would write nothing, which /dev/full refuses
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes the rest when it ends
        raise OSError(error.errno, f"{error.strerror}; the report could not be written", "standard output") from error


def help_text():
    lines = [f"usage: {TOOL} {USAGE_LINE}", "",
             "Makes one self-contained HTML page of bundles: records of csr-bench, reports of csr-reorder",
             "--json (what an order cost), profiles of csr-probe (the roofline), plans of submit.sh (what is",
             "missing), records of grid searches (heat maps) and of a study of schedules, reports of csr-solve-*",
             "--json (residual norms). Matrices are drawn where they are found under the name they were measured",
             "by. Exit code 1: of a plan, something is missing.", "", "options:"]
    for name, placeholder, short, text in OPTIONS:
        left = (f"  -{short}, " if short else "      ") + f"--{name}" + (f" {placeholder}" if placeholder else "")
        lines.append(left.ljust(30) + text if len(left) < 29 else left + "\n" + " " * 30 + text)
    lines += ["", "examples:"]
    for command, purpose in EXAMPLES:
        lines += [f"  # {purpose}", f"  {command}"]
    lines += ["", "exit codes: 0 done, 1 a check failed, 2 wrong usage, 3 bad input data, 4 I/O failure,",
              "5 not enough memory, 6 no usable GPU, 7 device failure, 128 + n ended by signal n"]
    return "\n".join(lines) + "\n"


def version_text():
    try:
        from report import build_facts  # made by CMake
        facts = build_facts.TEXT
    except ImportError:
        facts = "(csrkit) from the source tree\ncompiler: none\nCUDA: no\nMETIS: no"
    return f"{TOOL} {facts}\nPython: {sys.version.split()[0]}\n"


def list_text(as_json):
    if as_json:
        import json
        rows = [{"name": name, "summary": text} for name, text in SECTIONS]
        return json.dumps({"schema": 1, "rows": rows}) + "\n"
    width = max(len(name) for name, _ in SECTIONS) + 2
    return "section".ljust(width) + "what it shows\n" + "".join(
        name.ljust(width) + text + "\n" for name, text in SECTIONS)


def finish(text):
    show(text)
    sys.exit(DONE)


def find_option(word, long):
    for name, placeholder, short, _ in OPTIONS:
        if word == (name if long else short) and word:
            return name, bool(placeholder)
    close = difflib.get_close_matches(word, [option[0] for option in OPTIONS], 1)
    hint = f"; did you mean --{close[0]}?" if close else "; --help lists them"
    raise UsageError(f"there is no option {'--' if long else '-'}{word}{hint}")


def require_ending(option, path):
    right = ENDINGS[option]
    wrong = {*OTHER_ENDINGS, *(ending for endings in ENDINGS.values() for ending in endings)} - {*right}
    if os.path.splitext(path)[1].lower() in wrong:
        *others, last = right
        named = f"{', '.join(others)} or {last}" if others else last
        raise UsageError(f"the output '{path}' would not be what its name says, but a {named} file; name it so (csr-report writes "
                         "pages in HTML, tables in --markdown and --csv, --figures in SVG)")


def read_words(words):
    """The options with their values, and the names."""
    values, names = {}, []
    i = 0
    while i < len(words):
        word = words[i]
        i += 1
        if word == "--":  # behind it only names
            names += words[i:]
            break
        if not word.startswith("-") or word == "-":
            names.append(word)
            continue
        long = word.startswith("--")
        name, equals, value = word[2:].partition("=") if long else (word[1:2], bool(word[2:]), word[2:])
        name, takes_value = find_option(name, long)
        if name in values:
            raise UsageError(f"--{name} is given 2 times; give it once")
        if not takes_value:
            if equals:
                raise UsageError(f"--{name} takes no value, found '{value}'")
            values[name] = ""
            continue
        if not equals:
            if i == len(words):
                raise UsageError(f"--{name} needs a value, found the end of the command line")
            value = words[i]
            i += 1
        if not value or (value.startswith("--") and not equals):
            raise UsageError(f"--{name} needs a value, found {repr(value) if value else 'an empty one'}")
        values[name] = value
    return values, names


def parse(words):
    values, names = read_words(words)
    if "quiet" in values and "verbose" in values:
        raise UsageError("--quiet and --verbose contradict each other; give one")
    for name, text in (("help", help_text), ("version", version_text)):
        if name in values:
            finish(text())
    if "list" in values:
        finish(list_text("json" in values))
    if "no-html" in values and "output" in values:
        raise UsageError("--output and --no-html contradict each other; give one")
    if not names or "" in names:
        raise UsageError(f"expected {USAGE_LINE}, found {'an empty name' if names else 'none'}")
    options = Options(values, names)
    require_outputs(options)
    return options


def require_outputs(options):
    """There is something to write, and nothing is lost by it."""
    if not (options.output or options.markdown or options.csv or options.figures or options.as_json):
        raise UsageError("--no-html needs --markdown, --csv, --figures or --json")
    outputs = [path for path in (options.output, options.markdown, options.csv) if path]
    for path in outputs:
        if any(os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name) for name in options.inputs):
            raise UsageError(f"the output '{path}' is an input, which would be lost; name another file")
    if len(set(map(os.path.realpath, outputs))) != len(outputs):
        raise UsageError("two outputs have the same name")
    for option in ENDINGS:
        require_ending(option, getattr(options, option) or "")
    for path in outputs:
        if os.path.isfile(path) and not options.may_replace:
            raise UsageError(f"the output '{path}' exists already; --force replaces it")
    if options.figures and os.path.exists(options.figures) and not os.path.isdir(options.figures):
        raise UsageError(f"--figures is '{options.figures}', which is no folder; figures are files in a folder, name another")
    if options.figures and not options.may_replace:
        # Their names are known when they are drawn; a folder that holds some is refused before.
        with contextlib.suppress(OSError):
            found = sorted(name for name in os.listdir(options.figures) if name.endswith(".svg"))
            if found:
                raise UsageError(f"the folder '{options.figures}' holds {found[0]} already; --force replaces figures")


def say_process(options):
    """With --verbose: what this runs on."""
    if not options.is_verbose:
        return
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    say("debug", f"threads: 1 on cores {cores}")
    say("debug", f"Python {sys.version.split()[0]} ({sys.executable})")


def look_for_numpy(options):
    """The system's Python may have it when the first one on the PATH has not. Without it matrices are not drawn."""
    if not (options.needs_figures() and options.draws_matrices):
        return
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        if lacks_memory(error):
            raise
        other = "/usr/bin/python3"
        if os.path.exists(other) and not os.environ.get("CSRKIT_REPORT_PYTHON"):
            os.environ["CSRKIT_REPORT_PYTHON"] = other
            sys.stdout.flush()
            os.execv(other, [other, *sys.argv])
        options.draws_matrices = False
        options.say("warning", f"row lengths and spy plots need NumPy ({error}); install it (Debian: python3-numpy)")


def occupy_closed_streams():
    """A caller may start a tool with standard streams closed, and a file opened later would get the number of one. What takes
    the place can neither be read nor written, so that a lost report is a failure."""
    for stream in (0, 1, 2):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if stream else os.O_WRONLY)  # gets the lowest free number: this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:  # nobody hears it, and that is no failure
        sys.stderr = open(os.devnull, "w", encoding="utf-8")


def exit_on_signals():
    """As an exception, so that unfinished files are removed."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup: the parent's wish
            signal.signal(number, lambda number, _: sys.exit(128 + number))


def lacks_memory(error):
    """Whether this error, or one that it came from, is a lack of memory."""
    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        # Python has lost the reason of the first; the others are the loader's, of a library that NumPy wants.
        if any(words in str(error) for words in ("error return without exception set", "failed to map segment",
                                                 "annot allocate memory")):
            return True
        error = error.__cause__ or error.__context__
    return False


def run(main):
    occupy_closed_streams()
    exit_on_signals()
    try:
        return main()
    except UsageError as error:
        say("error", f"{error}\n({TOOL} --help explains the options)")
        return USAGE
    except InputError as error:
        say("error", str(error))
        return BAD_INPUT
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return say_failure(error)


def say_failure(error):
    """The sentence and the exit code of what no option and no input explains."""
    if lacks_memory(error):
        say("error", "not enough memory for this report on this machine; --no-pictures and --no-html need less")
        return NO_MEMORY
    if isinstance(error, OSError):
        say("error", f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error))
        return IO_FAILURE
    if "--verbose" in sys.argv:  # a bug of ours, which nobody should see
        traceback.print_exception(type(error), error, error.__traceback__)
    say("error", f"unexpected: {type(error).__name__}: {error} (--verbose says where)")
    return INTERNAL
