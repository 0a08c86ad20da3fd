"""Files that appear under their names complete or not at all, as core/base/atomic_file.h has them."""
import contextlib
import errno
import os
import re
import secrets
import stat

MAX_LINKS = 40
LEFT_OVER = re.compile(r".*\.tmp\.([0-9a-f]+)\.([0-9]+)\.[0-9a-f]{10}", re.DOTALL)


def place_of_processes():
    """Where process ids mean what they mean here: this boot of this machine, this container."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read(8)}{os.stat('/proc/self/ns/pid').st_ino:x}"
    except OSError:
        return ""


def named_beside(folder, name, suffix):
    """The name with a suffix behind it, cut where the folder, a descriptor, allows no more bytes."""
    most = os.fpathconf(folder, "PC_NAME_MAX") - len(suffix)
    kept = os.fsencode(name)
    if len(kept) > most:  # not within a character of UTF-8
        while most > 0 and kept[most] & 0xC0 == 0x80:
            most -= 1
        kept = kept[:most]
    return os.fsdecode(kept) + suffix


def remove_left_overs(folder):
    """Removes what killed processes of this user left in the folder, a descriptor."""
    for name in os.listdir(folder):
        match = LEFT_OVER.fullmatch(name)
        if match is None or match[1] != place_of_processes():
            continue
        try:
            os.kill(int(match[2]), 0)
        except ProcessLookupError:
            with contextlib.suppress(OSError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                    os.unlink(name, dir_fd=folder)
        except (OSError, OverflowError):
            pass  # it lives, or cannot be known


def write_files(outputs):
    """Writes (path, text or bytes) for each output; no path changes before all are on the disk.

    A temporary in the folder of each path is written, synced and renamed, then the folder is synced. A
    symbolic link is followed: the file it points at is replaced, the link stays. Anything but a regular
    file is refused. Raises OSError with a sentence that names the path.
    """
    files = []
    try:
        for path, _ in outputs:
            files.append(AtomicFile(path))
            files[-1].open()
        for file, (_, content) in zip(files, outputs):
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        for file in files:
            file.commit()
    finally:
        for file in files:
            file.discard()


class AtomicFile:
    def __init__(self, path):
        self.path = path
        self.name = ""  # in the folder, links resolved
        self.temporary = None  # in the folder; None once committed
        self.folder = None  # a descriptor, as is the next
        self.descriptor = None

    def open(self):
        if self.path == "-":
            raise self._refusal("an output is a file, not standard output; name one, or say ./-")
        folder, self.name = os.path.split(self._follow_links())
        if self.name in ("", ".", ".."):
            raise self._refusal("it names a folder, not a file")
        with self._step("its folder cannot be opened"):
            self.folder = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
        self._refuse_what_cannot_be_renamed_over()
        # Named before it exists: a signal in between finds nothing to remove.
        remove_left_overs(self.folder)
        suffix = f".tmp.{place_of_processes()}.{os.getpid()}.{secrets.token_hex(5)}"
        self.temporary = named_beside(self.folder, self.name, suffix)
        with self._step("a temporary file beside it cannot be made"):
            self.descriptor = os.open(self.temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=self.folder)

    def write(self, data):
        with self._step("writing failed"), os.fdopen(self.descriptor, "wb", closefd=False) as file:
            file.write(data)
        with self._step("fsync failed"):
            os.fsync(self.descriptor)

    def commit(self):
        # close may be where a network file system tells that the disk is full.
        descriptor, self.descriptor = self.descriptor, None
        with self._step("close failed"):
            os.close(descriptor)
        with self._step("its temporary cannot be renamed"):
            os.rename(self.temporary, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        self.temporary = None
        with self._step("fsync of its folder failed"):
            try:
                os.fsync(self.folder)
            except OSError as error:
                if error.errno != errno.EINVAL:  # some file systems cannot sync folders
                    raise

    def discard(self):
        if self.descriptor is not None:
            os.close(self.descriptor)
        if self.temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.temporary, dir_fd=self.folder)
        if self.folder is not None:
            os.close(self.folder)
        self.descriptor = self.temporary = self.folder = None

    def _follow_links(self):
        """Where a chain of symbolic links ends; the last target need not exist."""
        path = self.path
        for _ in range(MAX_LINKS):
            try:
                target = os.readlink(path)
            except OSError:
                return path  # no link, or nothing there yet
            # A link of /proc, as /dev/stdout and a shell's >(...) lead to: it stands for what is open
            # already, and the name it shows may be that of a pipe or of a file that is gone.
            if os.path.realpath(os.path.dirname(path)).startswith("/proc/"):
                raise self._refusal("an output is a file, not standard output or a pipe; name one")
            path = os.path.join(os.path.dirname(path), target)
        raise self._refusal("too many levels of symbolic links")

    def _refuse_what_cannot_be_renamed_over(self):
        try:
            mode = os.stat(self.name, dir_fd=self.folder).st_mode
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # the temporary's is cut and says nothing of this
                raise self._refusal(f"it cannot be made: {error.strerror}") from error
            return  # nothing there yet
        if not stat.S_ISREG(mode):
            raise self._refusal(("it is a folder" if stat.S_ISDIR(mode) else "it is no regular file") +
                                ", and output is completed under a temporary name first; name a file")

    def _refusal(self, reason):
        return OSError(0, f"cannot write '{self.path}': {reason}")

    @contextlib.contextmanager
    def _step(self, name):
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, f"cannot write '{self.path}': {name}: {error.strerror}") from error
