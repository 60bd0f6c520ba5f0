"""Which computers the phone allows: RSA keys, and the person who taps Allow."""

from __future__ import annotations

import base64
import binascii
import secrets
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

TOKEN, SIGNATURE, PUBLIC_KEY = 1, 2, 3  # the kinds of AUTH
TOKEN_BYTES = 20  # of a SHA-1 digest, which the computer signs as one
_WORDS = 64  # 32-bit words of a 2048-bit modulus
_KEY = struct.Struct(f"<II{4 * _WORDS}s{4 * _WORDS}sI")  # words, -1/n mod 2^32, modulus, R^2 mod modulus, exponent


@dataclass(frozen=True)
class Authentication:
    """What a computer must show. `keys` are lines as in a computer's `adbkey.pub`, which are allowed without asking;
    `allows_new` is what the person answers when another computer asks."""

    asks: bool = True
    allows_new: bool = False
    keys: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for each in self.keys:
            read_key(each)


NONE = Authentication(asks=False)
ANY_KEY = Authentication(allows_new=True)
REFUSED = Authentication()


def only(*keys: str) -> Authentication:
    """These computers, and no others. Raises ValueError if one is not a line of an `adbkey.pub`."""
    return Authentication(keys=keys)


def read_key(line: str | bytes) -> RSAPublicKey:
    """The key of a line "BASE64 user@host", as adb writes and sends it. Raises ValueError."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

    text = line.encode() if isinstance(line, str) else line
    try:
        words, _, modulus, _, exponent = _KEY.unpack(base64.b64decode(text.rstrip(b"\0").split()[0], validate=True))
    except (IndexError, binascii.Error, struct.error):
        raise ValueError("not a public key of adb") from None
    if words != _WORDS:
        raise ValueError("not a public key of adb: it has another length")
    return RSAPublicNumbers(exponent, int.from_bytes(modulus, "little")).public_key()


class Doorkeeper:
    """Remembers the keys that a phone allows."""

    def __init__(self, authentication: Authentication) -> None:
        self.authentication = authentication
        self._keys = [read_key(each) for each in authentication.keys]

    @staticmethod
    def token() -> bytes:
        return secrets.token_bytes(TOKEN_BYTES)

    def knows(self, token: bytes, signature: bytes) -> bool:
        """Whether one of the keys signed this token."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
        from cryptography.hazmat.primitives.hashes import SHA1

        for each in self._keys:
            try:
                each.verify(signature, token, PKCS1v15(), Prehashed(SHA1()))
            except InvalidSignature:
                continue
            return True
        return False

    def remember(self, line: bytes) -> bool:
        """Allow this computer from now on; False if that is not a key."""
        try:
            self._keys.append(read_key(line))
        except ValueError:
            return False
        return True
