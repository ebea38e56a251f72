"""The version of the package, which is that of the project in CMakeLists.txt."""

__version__ = "0.1.0"
