"""`cmake --install` serves users: by find_package and by pkg-config, static and shared."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import interceptor
import pytest
from foreign_names import COLLECTOR, HEAP, replaceable, undefined
from library_build import build_library

ROOT = Path(__file__).resolve().parents[2]
CONSUMER = Path(__file__).parent / "consumer"
EXPECTED = {"cpp": "7 freed\n", "c": "64 freed\n"}


def run(*command: str | Path, **environment: str) -> str:
    """The standard output of a command that has to succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def build() -> Path:
    return build_library()


@pytest.fixture(scope="session")
def prefix(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Heapwise, installed and then moved: an installed tree must not remember its place."""
    folder = tmp_path_factory.mktemp("install")
    first, second = folder / "first", folder / "second"
    run("cmake", "--install", build, "--prefix", first)
    first.rename(second)
    return second


@pytest.fixture(scope="session")
def built_by_cmake(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("consumer")
    run("cmake", "-G", "Ninja", "-S", CONSUMER, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    return build


@pytest.mark.parametrize("kind", ["static", "shared"])
@pytest.mark.parametrize("language", ["cpp", "c"])
def test_find_package(built_by_cmake: Path, language: str, kind: str) -> None:
    program = built_by_cmake / f"from_{language}_{kind}"
    assert run(program) == EXPECTED[language]
    assert uses_the_library(program) == (kind == "shared")


@pytest.mark.parametrize("kind", ["static", "shared"])
@pytest.mark.parametrize("language", ["cpp", "c"])
def test_pkg_config(prefix: Path, tmp_path: Path, language: str, kind: str) -> None:
    flags = pkg_config(prefix, *(["--static"] if kind == "static" else []), "--cflags", "--libs")
    compiler = ["g++", "-std=c++20"] if language == "cpp" else ["gcc", "-std=c99"]
    if kind == "static":
        compiler.append("-static")
    program = tmp_path / "program"
    run(*compiler, CONSUMER / f"consumer.{language}", "-o", program, *flags)
    libraries = str(library_folder(prefix))
    assert run(program, LD_LIBRARY_PATH=libraries) == EXPECTED[language]
    assert uses_the_library(program) == (kind == "shared")


@pytest.mark.parametrize("profile", ["malloc", "malloc-fast", "malloc-guarded", "malloc-hardened"])
@pytest.mark.parametrize("kind", ["", "-static"])
@pytest.mark.parametrize("language", ["cpp", "c"])
def test_find_package_of_malloc(
    built_by_cmake: Path, language: str, kind: str, profile: str
) -> None:
    program = built_by_cmake / f"from_{language}_{profile}{kind}"
    assert run(program) == "ours ours\n"
    assert uses_the_library(program) == (kind == "")


@pytest.mark.parametrize(
    "profile",
    [
        "heapwise-malloc",
        "heapwise-malloc-fast",
        "heapwise-malloc-guarded",
        "heapwise-malloc-hardened",
    ],
)
@pytest.mark.parametrize("kind", ["static", "shared"])
@pytest.mark.parametrize("language", ["cpp", "c"])
def test_pkg_config_of_malloc(
    prefix: Path, tmp_path: Path, language: str, kind: str, profile: str
) -> None:
    static = ["--static"] if kind == "static" else []
    flags = pkg_config(prefix, *static, "--cflags", "--libs", package=profile)
    compiler = ["g++", "-std=c++20"] if language == "cpp" else ["gcc", "-std=c99"]
    compiler += ["-static"] if static else []
    program = tmp_path / "program"
    source = tmp_path / f"malloc.{language}"
    source.write_text((CONSUMER / source.name).read_text())
    run(*compiler, "-D_GNU_SOURCE", source, "-o", program, *flags)
    assert run(program, LD_LIBRARY_PATH=str(library_folder(prefix))) == "ours ours\n"
    assert uses_the_library(program) == (kind == "shared")


@pytest.mark.parametrize("kind", ["", "-static"])
def test_a_program_that_leaves_malloc_to_its_libraries(
    prefix: Path, tmp_path: Path, kind: str
) -> None:
    """Nothing in the program asks for malloc: it has to get ours all the same."""
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text("int main(void) { return 0; }\n")
    flags = pkg_config(prefix, "--libs", package="heapwise-malloc")
    if kind:
        flags = [
            "-l:libheapwise-malloc.a" if flag == "-lheapwise-malloc" else flag for flag in flags
        ]
    run("gcc", source, "-o", program, "-Wl,--as-needed", *flags)
    defined = " T malloc" in run("nm", "--dynamic", "--defined-only", program)
    assert (uses_the_library(program), defined) == (kind == "", kind != "")


@pytest.mark.parametrize("profile", ["guarded", "hardened"])
def test_an_archive_says_that_it_keeps_no_call_sites(
    prefix: Path, tmp_path: Path, profile: str
) -> None:
    name = f"heapwise-malloc-{profile}"
    flags = [
        flag.replace(f"-l{name}", f"-l:lib{name}.a")
        for flag in pkg_config(prefix, "--libs", package=name)
    ]
    program = tmp_path / "program"
    run("gcc", ROOT / "tests/linking/archive.c", "-o", program, *flags)
    assert not uses_the_library(program)
    done = subprocess.run(
        [program],
        env=os.environ | {"HEAPWISE_MALLOC_CALL_SITES": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "CALL_SITES=1: the heap is linked into another file" in done.stderr
    assert "it is ignored" in done.stderr


@pytest.mark.parametrize("visibility", ["default", "hidden"])
@pytest.mark.parametrize("kind", ["static", "shared"])
def test_thread_caches_of_a_program_that_hides_its_symbols(
    prefix: Path, tmp_path: Path, kind: str, visibility: str
) -> None:
    """Program and library must mean the same thread-local table."""
    flags = pkg_config(prefix, *(["--static"] if kind == "static" else []), "--cflags", "--libs")
    static = ["-static"] if kind == "static" else []
    program = tmp_path / "program"
    run(
        "g++",
        "-std=c++20",
        "-O2",
        f"-fvisibility={visibility}",
        *static,
        CONSUMER / "cached.cpp",
        "-o",
        program,
        f"-L{library_folder(prefix)}",
        "-lheapwise-hybrid",
        *flags,
    )
    assert run(program, LD_LIBRARY_PATH=str(library_folder(prefix))) == (
        "1000000 pairs, no more caches, 1000 free, 1029 KiB\n"
    )


@pytest.mark.parametrize("hidden", [True, False], ids=["all hidden", "all exported"])
def test_plugins_with_a_copy_of_the_library_each(
    prefix: Path, tmp_path: Path, hidden: bool
) -> None:
    """A pool of one plug-in is used in the other: two registries give out the same slots."""
    flags = pkg_config(prefix, "--static", "--cflags", "--libs")
    flags = ["-l:libheapwise.a" if flag == "-lheapwise" else flag for flag in flags]
    apart = ["-Wl,-Bsymbolic", "-Wl,--exclude-libs,ALL"] if hidden else []
    for name in ("a.so", "b.so"):
        run(
            "g++",
            "-std=c++20",
            "-O2",
            "-fPIC",
            "-shared",
            CONSUMER / "plugin.cpp",
            "-o",
            tmp_path / name,
            *apart,
            *flags,
        )
        assert not uses_the_library(tmp_path / name)
    host = tmp_path / "host"
    run("g++", "-std=c++20", "-O2", CONSUMER / "plugin_host.cpp", "-o", host, "-pthread")
    assert run(host, tmp_path / "a.so", tmp_path / "b.so") == "done\n"


def test_versions_agree(prefix: Path) -> None:
    version = pkg_config(prefix, "--modversion")[0]
    assert pkg_config(prefix, "--modversion", package="heapwise-malloc") == [version]
    names = {path.name for path in library_folder(prefix).glob("libheapwise.*")}
    soname = f"libheapwise.so.{version.rpartition('.')[0]}"
    assert names == {"libheapwise.a", "libheapwise.so", soname, f"libheapwise.so.{version}"}
    dynamic = run("readelf", "-d", library_folder(prefix) / "libheapwise.so")
    assert f"[{soname}]" in dynamic
    pyproject = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{version}"' in pyproject


def test_private_headers_stay_home(prefix: Path) -> None:
    installed = {path.relative_to(prefix / "include") for path in prefix.rglob("*.h*")}
    public = {path.relative_to(ROOT / "include") for path in (ROOT / "include").rglob("*.h*")}
    assert installed == public


def library_folder(prefix: Path) -> Path:
    """Where the libraries are; its name is the distribution's business."""
    return next(prefix.rglob("libheapwise.a")).parent


def pkg_config(prefix: Path, *arguments: str, package: str = "heapwise") -> list[str]:
    """The words that pkg-config answers with."""
    folder = str(next(prefix.rglob("heapwise.pc")).parent)
    return run("pkg-config", *arguments, package, PKG_CONFIG_PATH=folder).split()


def uses_the_library(program: Path) -> bool:
    """True when the program needs a shared library of ours to start."""
    return "Shared library: [libheapwise" in run("readelf", "-d", program)


def test_debian_packages_divide_what_is_installed(
    build: Path, prefix: Path, tmp_path: Path
) -> None:
    """Each file of an installed tree is in one package; what programs load is apart."""
    run("cpack", "--config", build / "CPackConfig.cmake", "-B", tmp_path)
    packed = {
        path.name.partition("_")[0]: set(files_of_package(path)) for path in tmp_path.glob("*.deb")
    }
    assert set(packed) == {"libheapwise", "libheapwise-malloc", "libheapwise-dev"}
    installed = {path.name for path in prefix.rglob("*") if not path.is_dir()}
    assert sorted(name for names in packed.values() for name in names) == sorted(installed)
    assert "libheapwise-malloc.so" in packed["libheapwise-malloc"]
    assert all(".so" in name for name in packed["libheapwise-malloc"] | packed["libheapwise"])
    depends = run("dpkg-deb", "--field", *tmp_path.glob("libheapwise-dev_*.deb"), "Depends")
    assert "libheapwise-malloc (= " in depends


def files_of_package(path: Path) -> list[str]:
    """Names without their folders: those differ between a prefix and /usr."""
    lines = run("dpkg-deb", "--contents", path).splitlines()
    return [Path(line.split()[5]).name for line in lines if not line.startswith("d")]


def test_names_that_the_libraries_ask_others_for(prefix: Path) -> None:
    """Each has a reason in `foreign_names.py`: another library may take any of them."""
    folder = library_folder(prefix)
    assert undefined(folder / "libheapwise-gc.so") == set(COLLECTOR)
    for profile in ("", "-fast", "-guarded", "-hardened"):
        assert undefined(folder / f"libheapwise-malloc{profile}.so") == set(HEAP), profile


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="written for x86-64")
@pytest.mark.parametrize(
    "settings", [{}, {"HEAPWISE_GC_CONCURRENT_MIB": "1"}], ids=["stop", "copy"]
)
def test_a_library_intercepts_what_the_collector_calls(
    prefix: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    program = tmp_path / "intercepted"
    folder = library_folder(prefix)
    run(
        "gcc",
        "-O1",
        "-fno-builtin",
        "-pthread",
        f"-I{prefix}/include",
        ROOT / "tests/gc/intercepted.c",
        "-o",
        program,
        f"-L{folder}",
        "-lheapwise-gc",
        f"-Wl,-rpath,{folder}",
    )
    other = interceptor.build(replaceable(COLLECTOR), tmp_path)
    assert run(program, LD_PRELOAD=str(other), MALLOC_ARENA_MAX="1", **settings) == "done\n"
