"""Settings: three namespaces of names and values, as `settings get` reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from simphone.system.platform import LATIN
from simphone.system.saved import Saved

NAMESPACES = ("system", "secure", "global")
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "system": {
        "accelerometer_rotation": "1",
        "dim_screen": "1",
        "font_scale": "1.0",
        "haptic_feedback_enabled": "1",
        "screen_brightness": "102",
        "screen_brightness_mode": "1",
        "screen_off_timeout": "60000",
        "sound_effects_enabled": "1",
        "time_12_24": "24",
        "user_rotation": "0",
        "volume_alarm": "6",
        "volume_music": "5",
        "volume_ring": "5",
    },
    "secure": {
        "android_id": "5e1f0a7c3b92d46f",
        "default_input_method": f"{LATIN}/.LatinIME",
        "enabled_input_methods": f"{LATIN}/.LatinIME",
        "location_mode": "3",
        "lock_screen_show_notifications": "1",
        "show_ime_with_hard_keyboard": "0",
        "ui_night_mode": "1",
        "user_setup_complete": "1",
    },
    "global": {
        "adb_enabled": "1",
        "airplane_mode_on": "0",
        "animator_duration_scale": "1.0",
        "auto_time": "1",
        "bluetooth_on": "0",
        "device_name": "Simphone",
        "device_provisioned": "1",
        "low_power": "0",
        "mobile_data": "1",
        "stay_on_while_plugged_in": "0",
        "transition_animation_scale": "1.0",
        "wifi_on": "1",
        "window_animation_scale": "1.0",
        "zen_mode": "0",
    },
}


class Settings:
    """Kept in a file. `changed` is called with namespace, key and the new value (None: deleted) after each change."""

    def __init__(self, path: Path) -> None:
        self._saved = Saved(path, dict[str, dict[str, str]])
        self.changed: Callable[[str, str, str | None], None] = lambda namespace, key, value: None
        stored = self._saved.read()
        self._values = {
            namespace: {key: str(value) for key, value in stored.get(namespace, DEFAULTS[namespace]).items()}
            for namespace in NAMESPACES
        }

    def get(self, namespace: str, key: str) -> str | None:
        """Raises KeyError for an unknown namespace."""
        return self._values[namespace].get(key)

    def put(self, namespace: str, key: str, value: str) -> None:
        """Raises KeyError, OSError."""
        values = self._values[namespace]
        if values.get(key) != value:
            values[key] = value
            self._saved.write(self._values)
            self.changed(namespace, key, value)

    def delete(self, namespace: str, key: str) -> bool:
        """Whether there was one. Raises KeyError, OSError."""
        if key not in self._values[namespace]:
            return False
        del self._values[namespace][key]
        self._saved.write(self._values)
        self.changed(namespace, key, None)
        return True

    def all(self, namespace: str) -> dict[str, str]:
        """Raises KeyError."""
        return dict(self._values[namespace])

    def reset(self) -> None:
        """What a new phone has. Raises OSError."""
        for namespace in NAMESPACES:
            for key in sorted({*self._values[namespace], *DEFAULTS[namespace]}):
                if key in DEFAULTS[namespace]:
                    self.put(namespace, key, DEFAULTS[namespace][key])
                else:
                    self.delete(namespace, key)
