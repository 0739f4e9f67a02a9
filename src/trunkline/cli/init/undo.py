"""Takes out again what ``trunkline init`` wrote."""

from __future__ import annotations

from pathlib import Path

from trunkline.cli.init.jsonc_nodes import JsoncError
from trunkline.cli.init.settings_file import SettingsFile, digest
from trunkline.cli.init.settings_text import text_of, value_at, value_digest, without_entry
from trunkline.cli.init.written_entries import Record, Records
from trunkline.errors import ConfigurationError


def chosen_record(records: Records, file: SettingsFile, editor: str, name: str | None) -> Record:
    """Give the entry that is meant: the one of a name, or the only one."""
    names = records.names(editor)
    if name is None and len(names) == 1:
        name = names[0]
    record = None if name is None or name not in names else records.get(name)
    if record is not None:
        return record
    if not names:
        raise ConfigurationError(f"trunkline init has written nothing into {file.path} that is still there")
    raise ConfigurationError(
        f"trunkline init wrote {', '.join(map(repr, names))} into {file.path}: choose one with --name"
    )


def text_before(data: bytes | None, record: Record, *, force: bool) -> bytes | None:
    """Give the bytes of the file without the entry: exactly those before it, if nobody changed them since.

    None means that there was no file.
    """
    if data is None:
        raise ConfigurationError("the file is gone, so there is nothing to undo")
    if digest(data) == record.after:
        if record.backup is None:
            return None
        try:
            return Path(record.backup).read_bytes()
        except OSError:
            pass  # Then the entry is taken out of the text.
    elif not record.keys and not force:
        raise ConfigurationError("the file was changed since it was written: --force removes it all the same")
    if not record.keys:
        return None
    return _taken_out(data, record, force=force)


def _taken_out(data: bytes, record: Record, *, force: bool) -> bytes:
    path = [*record.keys, record.name]
    try:
        text = text_of(data)
        entry = value_at(text, path)
        if entry is not None and value_digest(entry) != record.entry and not force:
            raise ConfigurationError(
                f"the entry {record.name!r} was changed since it was written: --force removes it all the same"
            )
        return without_entry(text, path, previous=record.previous, made=record.made).encode()
    except JsoncError as error:
        raise ConfigurationError(
            f"the settings cannot be read ({error}): take {record.name!r} out yourself"
        ) from None
