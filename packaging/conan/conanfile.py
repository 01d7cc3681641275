"""Heapwise as a Conan package: `conan create packaging/conan`.

The package is what `cmake --install` writes, static and shared libraries together. Consumers use
its own `find_package(heapwise)` with the targets `heapwise::static`, `heapwise::gc_static`,
`heapwise::heapwise-malloc` and their like, so that the names are the same without Conan.
"""

from __future__ import annotations

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

SOURCES = ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*")


class Heapwise(ConanFile):
    name = "heapwise"
    license = "MIT"
    description = "Memory pools, a heap and a collector for C++ and C"
    topics = ("allocator", "malloc", "memory-pool", "garbage-collector")
    settings = "os", "arch", "compiler", "build_type"

    @property
    def _root(self) -> Path:
        """The checkout that the recipe is part of."""
        return Path(self.recipe_folder).parents[1]

    def set_version(self) -> None:
        project = load(self, str(self._root / "CMakeLists.txt"))
        [self.version] = re.findall(r"^  VERSION ([0-9.]+)$", project, re.MULTILINE)

    def export_sources(self) -> None:
        for pattern in SOURCES:
            copy(self, pattern, src=str(self._root), dst=self.export_sources_folder)

    def layout(self) -> None:
        cmake_layout(self)

    def validate(self) -> None:
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Heapwise runs on Linux only")
        check_min_cppstd(self, 20)

    def generate(self) -> None:
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HEAPWISE_BUILD_LAB"] = False
        toolchain.cache_variables["HEAPWISE_BUILD_TESTS"] = False
        toolchain.user_presets_path = False  # else it writes a file beside the sources
        toolchain.generate()

    def build(self) -> None:
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self) -> None:
        CMake(self).install()
        licenses = str(Path(self.package_folder, "licenses"))
        copy(self, "LICENSE", src=self.source_folder, dst=licenses)

    def package_info(self) -> None:
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/heapwise"]
