"""What a package file (APK) says of itself: which app it is, which version, and who signed it.

Nobody here verifies that it was really signed so: Android does when it installs it, and then has the signature to show.
"""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.errors import InstallFailed
from gateway.phone.harmless import harmless

if TYPE_CHECKING:
    from pyaxmlparser.core import APK  # type: ignore[import-untyped]

MANIFEST = "AndroidManifest.xml"
LARGEST = 16 << 20  # bytes of a manifest
UNREADABLE = "install it by adb, and name the app with --app instead"


@dataclass(frozen=True)
class ApkFile:
    """`signers` has, for each signature scheme that the file uses, short hashes of its signers' certificates. Which of
    the schemes counts depends on the version of Android; where a key was replaced by another they differ."""

    package: str
    version_code: int
    signers: frozenset[frozenset[str]]

    def is_of(self, signatures: Collection[str]) -> bool:
        """Whether an installed app of these signatures (`Package.signatures`) comes from the same hand."""
        return frozenset(signatures) in self.signers


def short_hash(certificate: bytes) -> str:
    """Of a certificate (DER), as `dumpsys package` prints it: Java's `Arrays.hashCode` of its signed bytes, in hex."""
    number = 1
    for byte in certificate:
        number = (31 * number + byte - ((byte & 0x80) << 1)) & 0xFFFFFFFF
    return f"{number:x}"


def read_apk(file: Path) -> ApkFile | None:
    """None for what is no APK: it has no Android manifest. Raises InstallFailed where it cannot be read."""
    try:
        with zipfile.ZipFile(file) as archive:
            if MANIFEST not in archive.namelist():
                return None
            if archive.getinfo(MANIFEST).file_size > LARGEST:
                raise InstallFailed(f"{file.name}: its manifest is too large", hint=UNREADABLE)
        return _read(file)
    except zipfile.BadZipFile:
        return None
    except (InstallFailed, OSError):
        raise
    except Exception as error:  # the library raises whatever its steps raise
        said = harmless(f"{type(error).__name__}: {error}", 200)
        raise InstallFailed(f"{file.name} cannot be read as an APK ({said})", hint=UNREADABLE) from error


def _read(file: Path) -> ApkFile:
    from pyaxmlparser.core import APK

    logging.getLogger("pyaxmlparser").setLevel(logging.CRITICAL)  # its warnings would go to the terminal
    apk: Any = APK(str(file))
    with apk.zip:
        package, code = apk.package, apk.get_attribute_value("manifest", "versionCode")
        if not package:
            raise InstallFailed(f"{file.name} has a manifest without a package", hint=UNREADABLE)
        major = apk.get_attribute_value("manifest", "versionCodeMajor")
        version = (int(major or "0", 0) << 32) + int(code or "0", 0)
        return ApkFile(package, version, frozenset(filter(None, _signers(apk))))


def _signers(apk: APK) -> list[frozenset[str]]:
    """The first certificate of each signer counts; the others are those who vouch for it."""
    first = [apk.get_certificate_der(name) for name in apk.get_signature_names()]
    second, third = [], []
    if apk.is_signed_v2():
        apk.parse_v2_signing_block()
        second = [each.signed_data.certificates[0] for each in apk._v2_signing_data]
    if apk.is_signed_v3():
        apk.parse_v3_signing_block()
        third = [each.signed_data.certificates[0] for each in apk._v3_signing_data]
    return [frozenset(map(short_hash, each)) for each in (first, second, third)]
