"""The clean tree and its copies."""

import pytest

from pytest_lendbench.bench import layout
from pytest_lendbench.bench.assembly import assemble, copy_writable, run_copy, tree_digest
from pytest_lendbench.rules.errors import InstrumentError

APP = layout.fixture() / "app"


@pytest.fixture
def modules(tmp_path):
    folder = tmp_path / "shared" / "node_modules"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def tree(tmp_path, modules):
    assemble(tmp_path / "tree", {"src/items/status.ts": b"mine\r\n", "src/app/items/[id]/page.tsx": b"page"}, modules)
    return tmp_path / "tree"


def test_the_candidates_files_stand_in_the_pristine_app(tree):
    assert (tree / "src/items/status.ts").read_bytes() == b"mine\r\n"
    assert (tree / "src/app/items/[id]/page.tsx").read_bytes() == b"page"
    assert (tree / "src/items/filters.ts").read_bytes() == (APP / "src/items/filters.ts").read_bytes()
    assert (tree / "src/db/memory.ts").read_bytes() == (APP / "src/db/memory.ts").read_bytes()


def test_the_driver_and_the_configuration_are_the_graders(tree):
    assert (tree / "src/db/driver.ts").read_bytes() == (layout.NODE_SOURCES / "driver.ts").read_bytes()
    assert (tree / "next.config.ts").read_bytes() == (layout.NODE_SOURCES / "next.config.ts").read_bytes()
    assert (tree / "next.config.app.ts").read_bytes() == (APP / "next.config.ts").read_bytes()
    assert (tree / "next-env.d.ts").is_file()


def test_packages_are_shared(tree, modules):
    assert (tree / "node_modules").is_symlink()
    assert (tree / "node_modules").resolve() == modules.resolve()


def test_what_tools_left_in_the_fixture_is_not_taken(tree):
    assert not (tree / ".next").exists()
    assert not list(tree.glob("*.tsbuildinfo"))


def test_a_copy_for_a_server_has_no_cache_but_all_else(tree, tmp_path):
    (tree / ".next" / "cache").mkdir(parents=True)
    (tree / ".next" / "server" / "cache").mkdir(parents=True)
    (tree / ".next" / "BUILD_ID").write_text("x")
    copy = run_copy(tree, tmp_path / "w0")
    assert (copy / ".next" / "BUILD_ID").read_text() == "x"
    assert not (copy / ".next" / "cache").exists()
    assert (copy / ".next" / "server" / "cache").is_dir()
    assert (copy / "node_modules").is_symlink()
    (copy / ".next" / "BUILD_ID").write_text("y")
    assert (tree / ".next" / "BUILD_ID").read_text() == "x"


def test_a_place_that_is_taken_is_explained(tree, modules):
    with pytest.raises(InstrumentError, match="could not be copied"):
        run_copy(tree, tree)


def test_a_read_only_source_becomes_writable(tmp_path):
    source = tmp_path / "source"
    (source / "folder").mkdir(parents=True)
    (source / "folder" / "file").write_text("x")
    for path in (source / "folder" / "file", source / "folder", source):
        path.chmod(0o555)
    copy_writable(source, tmp_path / "copy")
    assert all(path.stat().st_mode & 0o200 for path in (tmp_path / "copy").rglob("*"))
    for path in (source, source / "folder"):
        path.chmod(0o755)


def test_the_digest_tells_names_and_contents_apart(tmp_path, modules):
    assemble(tmp_path / "a", {}, modules)
    assemble(tmp_path / "b", {}, modules)
    same = tree_digest(tmp_path / "a")
    assert tree_digest(tmp_path / "b") == same
    (tmp_path / "b" / "src/items/status.ts").write_text("other")
    changed = tree_digest(tmp_path / "b")
    (tmp_path / "b" / "src/items/status.ts").rename(tmp_path / "b" / "src/items/renamed.ts")
    assert len({same, changed, tree_digest(tmp_path / "b")}) == 3
