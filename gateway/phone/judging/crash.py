"""Whether an app has gone: what Android shows of one that crashed or hangs."""

from __future__ import annotations

import re

from gateway.phone.judging.launchers import is_launcher
from gateway.phone.judging.look import Look

BUTTONS = frozenset("aerr_close aerr_wait aerr_app_info aerr_report aerr_restart aerr_mute".split())  # AOSP's own names
MANY = 10  # elements: the dialog has fewer
STOPPED = re.compile(
    r"keeps stopping|has stopped|is(n['’]t| not) responding"
    r"|wurde beendet|wiederholt beendet|reagiert nicht"
    r"|ne répond pas|s['’](est )?arrêt"
    r"|no responde|se (ha detenido|detuvo|detiene)|dejó de funcionar"
    r"|non risponde|si è (arrestat|interrott|bloccat)"
    r"|não (está respondendo|responde)|parou|apresenta falhas"
    r"|reageert niet|is gestopt|stopt steeds"
    r"|nie odpowiada|zatrzymuje się|przestała? działać"
    r"|yanıt vermiyor|durdu|sürekli duruyor"
    r"|не отвечает|остановлен|произош\w+ сбой"
    r"|停止运行|屡次停止|没有响应|无响应|沒有回應|停止運作|停止執行"
    r"|応答していません|停止しました|繰り返し停止"
    r"|응답하지 않|중지되|중지됨|중단되"
    r"|لا يستجيب|توقف"
    r"|रुक|काम नहीं कर|जवाब नहीं",
    re.IGNORECASE,
)


def says_so(look: Look) -> bool:
    """Whether the system's dialog about an app that crashed or hangs is shown."""
    if any(each.resource_id in BUTTONS for each in look.shown):
        return True
    of_system = look.seen.package == "android" or any(each.package == "android" for each in look.shown)
    return of_system and len(look.shown) < MANY and any(STOPPED.search(each.text) for each in look.shown)


def gone(before: Look, after: Look) -> bool:
    """Whether the app that was there is not any more, and nobody asked for that."""
    if says_so(after):
        return not says_so(before)
    left = bool(before.seen.package) and not is_launcher(before.seen.package) and not says_so(before)
    return left and is_launcher(after.seen.package)
