"""System properties, as `getprop` prints them."""

from __future__ import annotations

from collections.abc import Mapping

from simphone.system.platform import RELEASE, SDK

BUILD = "UQ1A.240205.002"


def properties(serial_number: str, model: str, density: int) -> dict[str, str]:
    """Those of a phone that has booted."""
    device = "".join(each for each in model.lower() if each.isalnum() or each == "_") or "simphone"
    fingerprint = f"simphone/{device}/{device}:{RELEASE}/{BUILD}/1:userdebug/test-keys"
    found: Mapping[str, str] = {
        "dalvik.vm.heapsize": "512m",
        "debug.sf.nobootanimation": "1",
        "dev.bootcomplete": "1",
        "gsm.operator.alpha": "Simphone",
        "gsm.sim.state": "READY",
        "init.svc.adbd": "running",
        "init.svc.bootanim": "stopped",
        "net.bt.name": "Android",
        "persist.sys.locale": "en-US",
        "persist.sys.timezone": "UTC",
        "persist.sys.usb.config": "adb",
        "ro.adb.secure": "1",
        "ro.boot.serialno": serial_number,
        "ro.build.characteristics": "default",
        "ro.build.display.id": f"{device}-userdebug {RELEASE} {BUILD} test-keys",
        "ro.build.fingerprint": fingerprint,
        "ro.build.id": BUILD,
        "ro.build.tags": "test-keys",
        "ro.build.type": "userdebug",
        "ro.build.version.codename": "REL",
        "ro.build.version.incremental": "1",
        "ro.build.version.release": RELEASE,
        "ro.build.version.release_or_codename": RELEASE,
        "ro.build.version.sdk": str(SDK),
        "ro.build.version.security_patch": "2024-02-05",
        "ro.debuggable": "1",
        "ro.hardware": "simphone",
        "ro.product.board": device,
        "ro.product.brand": "simphone",
        "ro.product.cpu.abi": "x86_64",
        "ro.product.cpu.abilist": "x86_64",
        "ro.product.device": device,
        "ro.product.locale": "en-US",
        "ro.product.manufacturer": "Simphone",
        "ro.product.model": model,
        "ro.product.name": device,
        "ro.secure": "1",
        "ro.serialno": serial_number,
        "ro.sf.lcd_density": str(density),
        "ro.treble.enabled": "true",
        "sys.boot_completed": "1",
        "sys.usb.config": "adb",
        "sys.usb.state": "adb",
    }
    return dict(found)
