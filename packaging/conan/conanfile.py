"""imrec for Conan 2, built from the tree that this file is in; libraries by Conan, or, with -o imrec/*:system=True, those of
the machine."""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.gnu import PkgConfigDeps


class ImrecRecipe(ConanFile):
    name = "imrec"
    description = "Image records to training batches"
    license = "Apache-2.0"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "net": [True, False], "system": [True, False]}
    default_options = {"shared": True, "fPIC": True, "net": True, "system": False}
    languages = "C"

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        header = load(self, os.path.join(self._root, "include", "imrec", "version.h"))
        self.version = header.split('IMREC_VERSION_STRING "')[1].split('"')[0]

    def export_sources(self):
        copy(self, "*", src=self._root, dst=self.export_sources_folder, excludes=["build/*", ".git/*", "tests/*"])

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)  # a folder for what Conan writes: the tree has a CMakePresets.json of its own

    def requirements(self):
        if self.options.system:
            return
        for reference in ("libjpeg-turbo/[>=2.1 <4]", "jansson/[>=2.11]", "libspng/[>=0.7]", "giflib/[>=5.2]", "libwebp/[>=1.2]",
                          "libtiff/[>=4.5]", "zlib/[>=1.2]", "random123/[>=1.14]"):
            self.requires(reference)
        if self.options.net:
            for reference in ("libcurl/[>=7.85 <9]", "openssl/[>=3 <4]", "expat/[>=2.4]"):
                self.requires(reference)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        for name, value in (("BUILD_TESTS", False), ("WITH_MPI", False), ("WITH_CURL", bool(self.options.net))):
            toolchain.cache_variables[f"IMREC_{name}"] = value
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_Python"] = True
        toolchain.generate()
        if not self.options.system:
            PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["imrec"]
        self.cpp_info.set_property("cmake_file_name", "imrec")
        self.cpp_info.set_property("cmake_target_name", "imrec::imrec")
        self.cpp_info.set_property("pkg_config_name", "imrec")
        if not self.options.shared:
            self.cpp_info.system_libs = ["m", "pthread", "dl", "gomp"]
            if self.options.system:
                self.cpp_info.system_libs += ["jpeg", "jansson", "spng", "gif", "webp", "tiff", "z"]
                if self.options.net:
                    self.cpp_info.system_libs += ["curl", "crypto", "expat"]
