"""Writing a file so that whoever looks finds nothing, or all of it."""

import os
import tempfile
from pathlib import Path


def write_whole(file: Path, text: str) -> None:
    """Writes `text` as UTF-8, atomically, with the permissions of any new file.

    Raises:
        OSError: It cannot be written.
        UnicodeEncodeError: `text` has lone surrogates.
    """
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:40]}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
