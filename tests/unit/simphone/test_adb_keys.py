from __future__ import annotations

import base64
import struct

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils
from cryptography.hazmat.primitives.hashes import SHA1

from simphone.adbd.auth import ANY_KEY, Doorkeeper, only, read_key

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def line(key: rsa.RSAPrivateKey, words: int = 64) -> str:
    """As adb writes it: the modulus with what Montgomery multiplication needs, little-endian."""
    numbers = key.public_key().public_numbers()
    inverse = -pow(numbers.n, -1, 1 << 32) % (1 << 32)
    square = pow(1 << 2048, 2, numbers.n)
    packed = struct.pack("<II", words, inverse) + numbers.n.to_bytes(256, "little") + square.to_bytes(256, "little")
    return base64.b64encode(packed + struct.pack("<I", numbers.e)).decode() + " someone@somewhere"


def sign(key: rsa.RSAPrivateKey, token: bytes) -> bytes:
    return key.sign(token, padding.PKCS1v15(), utils.Prehashed(SHA1()))


def test_a_key_is_read_as_adb_writes_it() -> None:
    assert read_key(line(KEY)).public_numbers() == KEY.public_key().public_numbers()
    assert read_key(line(KEY).encode() + b"\0").public_numbers() == KEY.public_key().public_numbers()


@pytest.mark.parametrize("text", ["", "QUJD me@here", "not base64!", line(KEY, words=32), line(KEY)[:-40]])
def test_what_is_not_a_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a public key"):
        read_key(text)
    with pytest.raises(ValueError, match="not a public key"):
        only(text)


def test_only_the_keys_that_are_allowed_sign() -> None:
    doorkeeper = Doorkeeper(only(line(KEY)))
    token = doorkeeper.token()
    assert len(token) == 20
    assert doorkeeper.knows(token, sign(KEY, token))
    assert not doorkeeper.knows(token, sign(OTHER, token))
    assert not doorkeeper.knows(doorkeeper.token(), sign(KEY, token))
    assert not doorkeeper.knows(token, b"")


def test_a_key_that_was_allowed_once_is_known() -> None:
    doorkeeper = Doorkeeper(ANY_KEY)
    token = doorkeeper.token()
    assert not doorkeeper.knows(token, sign(OTHER, token))
    assert doorkeeper.remember(line(OTHER).encode() + b"\0")
    assert doorkeeper.knows(token, sign(OTHER, token))
    assert not doorkeeper.remember(b"nonsense\0")
