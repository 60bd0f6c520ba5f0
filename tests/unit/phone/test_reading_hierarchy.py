from __future__ import annotations

import pytest
from android_recordings import all_recorded, recorded
from hypothesis import given
from hypothesis import strategies as st
from screens import node, screen

from gateway.errors import HierarchyUnreadable
from gateway.phone import hierarchy
from gateway.phone.element import Bounds
from gateway.phone.hierarchy import MAX_DEPTH, parse

NODES = {  # of each recording; the trees were counted by hand
    "appium-page-source--automotive-korean-mojibake-with-stdout-prefix.xml": 59,
    "uiautomator-dump--androidtv-live-guide-269-nodes-1920x1080.xml": 269,
    "uiautomator-dump--anr-dialog-small-landscape-320.xml": 12,
    "uiautomator-dump--anr-dialog-system-ui-isnt-responding.xml": 12,
    "uiautomator-dump--arabic-login-password-field-1080x1920.xml": 16,
    "uiautomator-dump--automotive-korean-setupwizard-dialog.xml": 18,
    "uiautomator-dump--bilibili-1440x3060-zh.xml": 145,
    "uiautomator-dump--chrome-page-without-web-nodes-utf16.xml": 32,
    "uiautomator-dump--compose-settings-1080x2400.xml": 28,
    "uiautomator-dump--game-surface-near-empty-6-nodes.xml": 6,
    "uiautomator-dump--gms-webview-13-nodes.xml": 13,
    "uiautomator-dump--lockscreen-password-keypad-720x1612.xml": 98,
    "uiautomator-dump--miui-stacktrace-before-xml.txt": 145,
    "uiautomator-dump--phone-1200x2670-zh-drawing-order.xml": 55,
    "uiautomator-dump--pixel-launcher-1080x2400.xml": 35,
    "uiautomator-dump--runtime-permission-dialog.xml": 18,
    "uiautomator-dump--samsung-compose-app-hebrew-rtl.xml": 27,
    "uiautomator-dump--samsung-oneui-launcher-1080x2340-hebrew-labels.xml": 117,
    "uiautomator-dump--share-sheet-intentresolver.xml": 54,
    "uiautomator-dump--tablet-rotation3-1600x2560.xml": 50,
    "uiautomator-dump--tablet-rotation3-dialog.xml": 14,
    "uiautomator-dump--transsion-xos-all-apps-1080x2156.xml": 45,
    "uiautomator-dump--vivo-launcher-1080x2400-zh.xml": 36,
    "uiautomator-dump--vivo-lockscreen-notifications-720x1612.xml": 234,
    "uiautomator2-server-dump--samsung-german-webview-multiwindow.xml": 143,
}
FAILURES = {  # what the message says of each
    "uiautomator-dump--miui-stacktrace-only.txt": "FileNotFoundException",
    "quoted-uiautomator-dump-miui-stacktrace--android10.txt": "FileNotFoundException",
    "quoted-uiautomator-dump-idle-error.txt": "does not come to rest",
    "quoted-uiautomator-dump-null-root.txt": "no window tells",
    "quoted-uiautomator-dump-success.txt": "names the file",
    "quoted-uiautomator-dump-success--emulated-legacy.txt": "names the file",
    "quoted-uiautomator-dump-crash-empty-output-logcat.txt": "NullPointerException",
}
SIMPLE = screen(node("FrameLayout", "[0,0][1080,2400]", node("Button", "[0,0][10,10]", text="OK", clickable=True)))


@pytest.mark.parametrize(("name", "nodes"), NODES.items())
def test_every_recorded_tree_is_read_whole(name: str, nodes: int) -> None:
    tree = parse(recorded(name))
    assert sum(1 for _ in tree.nodes()) == nodes
    assert tree.rotation == (3 if "rotation3" in name else 0)
    assert all(each.bounds.area for each in tree.roots)


@pytest.mark.parametrize(("name", "cause"), FAILURES.items())
def test_a_recorded_failure_says_why_and_what_to_do(name: str, cause: str) -> None:
    with pytest.raises(HierarchyUnreadable, match=cause) as caught:
        parse(recorded(name))
    assert caught.value.hint
    assert caught.value.retryable


def test_no_recorded_dump_is_forgotten() -> None:
    assert set(all_recorded("uiautomator*", "appium*", "quoted-uiautomator*")) <= NODES.keys() | FAILURES.keys()


def test_the_same_screen_comes_out_of_a_stack_trace_and_without_one() -> None:
    with_trace = parse(recorded("uiautomator-dump--miui-stacktrace-before-xml.txt"))
    assert with_trace == parse(recorded("uiautomator-dump--bilibili-1440x3060-zh.xml"))


@pytest.mark.parametrize(
    "printed",
    [
        SIMPLE.encode(),
        b"\xef\xbb\xbf" + SIMPLE.encode(),
        b"\xff\xfe" + SIMPLE.encode("utf-16-le"),
        b"\xfe\xff" + SIMPLE.encode("utf-16-be"),
        SIMPLE.replace("><", ">\r\n  <").encode(),
        b"WARNING: linker: libdvm.so has text relocations\n" + SIMPLE.encode(),
        f"java.io.FileNotFoundException: /data/x.xml\n\tat libcore.io.IoBridge.open(IoBridge.java:574)\n{SIMPLE}",
        f"{SIMPLE}UI hierchary dumped to: /dev/tty\n",
        f"UI hierchary dumped to: /sdcard/window_dump.xml\r\n{SIMPLE}",
        SIMPLE.partition("?>")[2],
        f"{SIMPLE}\n{screen(node(text='older'))}",
    ],
)
def test_the_tree_is_found_whatever_stands_around_it(printed: bytes | str) -> None:
    assert parse(printed) == parse(SIMPLE)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a & b", "a & b"),
        ("&nbsp;x&copy;", "&nbsp;x&copy;"),
        ("&#0;a&#8;b&#xFFFF;c&#1114112;", "abc"),
        ("&#55357;&#56628;", "🔴"),
        ("&#xD83D;&#xDD34; live", "🔴 live"),
        ("lone &#55357; half", "lone \ufffd half"),
        ("a\x00b\x1bc\x0cd", "abcd"),
        ("1 < 2 <b>", "1 < 2 <b>"),
        ("&lt;b&gt; &quot;q&quot; &#38; &amp;", '<b> "q" & &'),
        ("two&#10;lines", "two\nlines"),
        ("\udcff", "\ufffd"),
    ],
)
def test_what_xml_forbids_is_mended(written: str, read: str) -> None:
    printed = f'<hierarchy rotation="0"><node class="TextView" text="{written}" bounds="[0,0][9,9]" /></hierarchy>'
    assert parse(printed).roots[0].text == read


def test_what_a_node_says() -> None:
    printed = node(
        "EditText",
        "[-5,10][1085,200]",
        text="Anna",
        desc="null",
        hint="Name",
        id="name",
        checkable=True,
        focused=True,
        enabled=False,
        drawing_order=7,
    )
    read = parse(screen(printed, rotation=1))
    (only,) = read.roots
    assert read.rotation == 1
    assert (only.text, only.description, only.hint, only.drawing_order) == ("Anna", "", "Name", 7)
    assert (only.checkable, only.focused, only.enabled, only.clickable) == (True, True, False, False)
    assert only.bounds == Bounds(-5, 10, 1085, 200)
    assert only.resource_id == "org.example:id/name"


def test_the_page_source_of_appium_is_read_too() -> None:
    printed = (
        '<hierarchy rotation="0"><android.widget.Button text="OK" bounds="[0,0][9,9]" displayed="false"/></hierarchy>'
    )
    (only,) = parse(printed).roots
    assert (only.class_name, only.text, only.visible) == ("android.widget.Button", "OK", False)


@pytest.mark.parametrize(
    ("printed", "cause"),
    [
        ("", "printed nothing"),
        ("\n", "printed nothing"),
        ("ERROR: could not get idle state.\n", "does not come to rest"),
        ("ERROR: null root node returned by UiTestAutomationBridge.\n", "no window tells"),
        ("Killed \n", "ended uiautomator"),
        ("/system/bin/sh: uiautomator: inaccessible or not found\n", "has no uiautomator"),
        ("UI hierchary dumped to: /sdcard/window_dump.xml\n", "names the file"),
        (SIMPLE[:-5], "cut off"),
        (SIMPLE[: len(SIMPLE) // 2], "cut off"),
        ('<hierarchy rotation="0" />', "empty"),
        ('<hierarchy rotation="0"></hierarchy>', "empty"),
        ('<hierarchy rotation="0"><node class="a" class="b"></hierarchy>', "no XML"),
        ("<html><body>502 Bad Gateway</body></html>", "502 Bad Gateway"),
    ],
)
def test_what_is_no_tree_says_why_and_what_to_do(printed: str, cause: str) -> None:
    with pytest.raises(HierarchyUnreadable, match=cause) as caught:
        parse(printed)
    assert caught.value.hint


def test_the_device_cannot_forge_the_message() -> None:
    with pytest.raises(HierarchyUnreadable) as caught:
        parse("Exception \x1b[2J\u202ehidden " + "x" * 9999)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_entities_are_not_expanded() -> None:
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    printed = f'<!DOCTYPE x [<!ENTITY l0 "lol"><!ENTITY f SYSTEM "file:///etc/passwd">{lol}]>'
    read = parse(printed + '<hierarchy><node text="&l8;&f;" bounds="[0,0][9,9]"/></hierarchy>')
    assert read.roots[0].text == "&l8;&f;"
    with pytest.raises(HierarchyUnreadable):
        parse(f"<hierarchy>{printed}<node/></hierarchy>")


def test_depth_is_bounded_and_nothing_is_lost() -> None:
    depth = 3000
    read = parse(f"<hierarchy>{'<node>' * depth}{'</node>' * depth}</hierarchy>")
    assert sum(1 for _ in read.nodes()) == depth
    deepest, level = read.roots, 0
    while deepest:
        deepest, level = tuple(child for each in deepest for child in each.children), level + 1
    assert level <= MAX_DEPTH


def test_a_tree_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hierarchy, "MAX_NODES", 1000)
    assert len(parse(f"<hierarchy>{'<node/>' * 1000}</hierarchy>").roots) == 1000
    with pytest.raises(HierarchyUnreadable, match="1,000 nodes"):
        parse(f"<hierarchy>{'<node/>' * 1001}</hierarchy>")


@pytest.mark.parametrize("bounds", ["", "[0,0]", "[a,b][c,d]", "[1,2][3,4][5,6]", "[" + "9" * 99 + ",0][1,1]"])
def test_bounds_that_are_none_are_nowhere(bounds: str) -> None:
    assert parse(screen(node(bounds=bounds))).roots[0].bounds.area == 0


@given(st.text(), st.text())
def test_every_text_that_is_escaped_comes_back(text: str, hint: str) -> None:
    from xml.sax.saxutils import quoteattr

    escape = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
    given = f"text={quoteattr(text, escape)} hint={quoteattr(hint, escape)}"
    (only,) = parse(f"<hierarchy><node {given}/></hierarchy>").roots
    forbidden = {*map(chr, range(32)), *map(chr, range(0xD800, 0xE000)), "\ufffe", "\uffff"} - {"\n", "\r", "\t"}
    if forbidden.isdisjoint(text + hint):
        assert only.text == text
        assert only.hint == ("" if hint == "null" else hint)


@given(st.binary() | st.text() | st.binary().map(lambda junk: SIMPLE.encode()[:99] + junk + SIMPLE.encode()[99:]))
def test_whatever_comes_is_a_tree_or_an_error_of_ours(printed: bytes | str) -> None:
    try:
        parse(printed)
    except HierarchyUnreadable as error:
        assert error.hint
