"""Small app packages (APK files), made here: a binary manifest, pages for the simulated phone, and signatures of the
kinds that Android knows. The digests in them are not those of the file: only a phone would look at them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs7

ANDROID = "http://schemas.android.com/apk/res/android"
STRING, REFERENCE, DECIMAL, HEXADECIMAL = 0x03, 0x01, 0x10, 0x11
RESOURCES = {"versionCode": 0x0101021B, "versionName": 0x0101021C, "versionCodeMajor": 0x01010576}
V2, V3 = 0x7109871A, 0xF05368C0
ECDSA = 0x0201


@cache
def key(name: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@cache
def certificate(name: str) -> bytes:
    """A self-signed one, DER."""
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key(name).public_key())
        .serial_number(1000)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2050, 1, 1, tzinfo=UTC))
        .sign(key(name), hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.DER)


def certificate_with_hash(name: str, wanted: str) -> bytes:
    """One whose short hash, as Java makes it of an array of bytes, is that number in hex: its own signature, which
    nobody verifies, ends accordingly."""
    start = certificate(name)[:-7]
    number = 1
    for byte in start:
        number = number * 31 + (byte - 256 if byte > 127 else byte)
    missing = (int(wanted, 16) - number * 31**7) % 2**32
    end = []
    for _ in range(7):
        missing, digit = divmod(missing, 31)
        end.append(digit)
    return start + bytes(reversed(end))


def apk(
    package: str = "org.example.other",
    code: int = 3,
    name: str = "1.3",
    *,
    v1: Sequence[str] = (),
    v2: Sequence[bytes] = (),
    v3: Sequence[bytes] = (),
    major: int = 0,
    hexadecimal: bool = False,
    files: dict[str, bytes] | None = None,
) -> bytes:
    """A package file. `v1` are names of signers, `v2` and `v3` their certificates."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("AndroidManifest.xml", manifest(package, code, name, major=major, hexadecimal=hexadecimal))
        for path, data in (files or {}).items():
            archive.writestr(path, data)
        for number, each in enumerate(v1):
            archive.writestr(f"META-INF/CERT{number}.SF", b"Signature-Version: 1.0\r\n\r\n")
            archive.writestr(f"META-INF/CERT{number}.EC", _signed(each))
    blocks = {V2: _signers(v2, b""), V3: _signers(v3, struct.pack("<II", 24, 0x7FFFFFFF))}
    return _with_block(held.getvalue(), {kind: block for kind, block in blocks.items() if block})


def simulated_apk(file: Path, pages: Path, signer: bytes, **manifest: Any) -> Path:
    """A package of the simulated phone's that is an APK besides, of the same package and version."""
    told = json.loads((pages / "manifest.json").read_text()) | manifest
    files = {each.name: each.read_bytes() for each in pages.glob("*.html")}
    files["manifest.json"] = json.dumps(told).encode()
    file.write_bytes(apk(told["package"], told["version_code"], told["version_name"], v2=[signer], files=files))
    return file


def manifest(package: str, code: int, name: str, *, major: int = 0, hexadecimal: bool = False) -> bytes:
    """`<manifest package="…" android:versionCode="…" android:versionName="…"/>` as Android's tools compile it."""
    given: list[tuple[str, str, int, int | str]] = [
        (ANDROID, "versionCode", HEXADECIMAL if hexadecimal else DECIMAL, code),
        (ANDROID, "versionName", STRING, name),
        *([(ANDROID, "versionCodeMajor", DECIMAL, major)] if major else []),
        ("", "package", STRING, package),
    ]
    named = [each for _, each, _, _ in given if each in RESOURCES]  # these come first, as the resource map has them
    strings = [*named, "android", ANDROID, "manifest", "package", name, package]
    place = strings.index
    attributes = b""
    for space, attribute, kind, value in given:
        raw = place(value) if isinstance(value, str) else -1
        data = raw if isinstance(value, str) else value
        at = place(space) if space else -1
        attributes += struct.pack("<iiiHBBI", at, place(attribute), raw, 8, 0, kind, data)
    space = struct.pack("<iI", 1, 0xFFFFFFFF) + struct.pack("<ii", place("android"), place(ANDROID))
    tag = struct.pack("<iI", 1, 0xFFFFFFFF) + struct.pack("<ii", -1, place("manifest"))
    inside = b"".join(
        (
            _pool(strings),
            _chunk(0x0180, 8, b"".join(struct.pack("<I", RESOURCES[each]) for each in named)),
            _chunk(0x0100, 16, space),
            _chunk(0x0102, 16, tag + struct.pack("<HHHHHH", 20, 20, len(given), 0, 0, 0) + attributes),
            _chunk(0x0103, 16, tag),
            _chunk(0x0101, 16, space),
        )
    )
    return _chunk(0x0003, 8, inside)


def _chunk(kind: int, header: int, data: bytes) -> bytes:
    return struct.pack("<HHI", kind, header, 8 + len(data)) + data


def _pool(strings: Sequence[str]) -> bytes:
    """UTF-16 strings, each with its length and a zero."""
    data, offsets = b"", b""
    for each in strings:
        offsets += struct.pack("<I", len(data))
        data += struct.pack("<H", len(each)) + each.encode("utf-16-le") + b"\0\0"
    data += b"\0" * (-len(data) % 4)
    return _chunk(0x0001, 28, struct.pack("<IIIII", len(strings), 0, 0, 28 + len(offsets), 0) + offsets + data)


def _signed(name: str) -> bytes:
    cert = x509.load_der_x509_certificate(certificate(name))
    builder = pkcs7.PKCS7SignatureBuilder().set_data(b"x").add_signer(cert, key(name), hashes.SHA256())
    return builder.sign(serialization.Encoding.DER, [pkcs7.PKCS7Options.DetachedSignature])


def _sized(*parts: bytes) -> bytes:
    return b"".join(struct.pack("<I", len(each)) + each for each in parts)


def _signers(certificates: Sequence[bytes], versions: bytes) -> bytes:
    """Android's signature scheme 2; 3 has the versions of Android besides, twice."""
    signers = b""
    for each in certificates:
        mark = _sized(struct.pack("<I", ECDSA) + _sized(b"\0" * 32))
        signed = _sized(mark, _sized(each)) + versions + _sized(b"")
        signers += _sized(_sized(signed) + versions + _sized(mark, b"key"))
    return _sized(signers) if signers else b""


def _with_block(archive: bytes, blocks: dict[int, bytes]) -> bytes:
    """The signing block goes before the central directory."""
    if not blocks:
        return archive
    end = archive.rindex(b"PK\x05\x06")
    directory = struct.unpack_from("<I", archive, end + 16)[0]
    pairs = b"".join(struct.pack("<QI", 4 + len(data), kind) + data for kind, data in blocks.items())
    size = struct.pack("<Q", len(pairs) + 24)
    block = size + pairs + size + b"APK Sig Block 42"
    moved = archive[: end + 16] + struct.pack("<I", directory + len(block)) + archive[end + 20 :]
    return moved[:directory] + block + moved[directory:]
