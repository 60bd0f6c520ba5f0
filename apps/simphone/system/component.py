"""Names of components: a package and a class in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Component:
    """`name` is the whole class name."""

    package: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Component | None:
        """From "package/class" or "package/.Class"; None where it is neither."""
        package, slash, name = text.partition("/")
        if not (slash and package and name):
            return None
        return cls(package, package + name if name.startswith(".") else name)

    @property
    def short(self) -> str:
        """As Android prints it in most places: "package/.Class" where the class lies in the package."""
        inside = self.name.removeprefix(self.package)
        return f"{self.package}/{inside if inside.startswith('.') else self.name}"

    @property
    def long(self) -> str:
        return f"{self.package}/{self.name}"
