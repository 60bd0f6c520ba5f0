"""Which role a view plays on the screen, by its class."""

from __future__ import annotations

from gateway.phone.hierarchy import Node

# Simple names of Android's classes, and of those that Material and AndroidX put in their place. Compose, Flutter and
# web pages report the closest of Android's own.
CLASSES = {
    "button": "Button ImageButton FloatingActionButton ExtendedFloatingActionButton MaterialButton Chip",
    "field": "EditText AutoCompleteTextView MultiAutoCompleteTextView TextInputEditText SearchAutoComplete",
    "checkbox": "CheckBox CheckedTextView MaterialCheckBox AppCompatCheckBox",
    "radio": "RadioButton MaterialRadioButton AppCompatRadioButton",
    "switch": "Switch SwitchCompat SwitchMaterial MaterialSwitch ToggleButton",
    "picker": "Spinner NumberPicker DatePicker TimePicker AppCompatSpinner",
    "slider": "SeekBar RatingBar Slider RangeSlider",
    "tab": "Tab ActionBar$Tab TabLayout$TabView TabView",
    "progress": "ProgressBar CircularProgressIndicator LinearProgressIndicator",
    "image": "ImageView Image",
    "text": "TextView",
    "list": "ListView RecyclerView GridView ScrollView HorizontalScrollView NestedScrollView ViewPager ViewPager2 "
    "WebView",
}
ROLES = {name: role for role, names in CLASSES.items() for name in names.split()}

CONTROLS = {"field", "checkbox", "radio", "switch", "picker", "slider"}  # what a text beside them often names
CHECKABLE = {"checkbox", "radio", "switch"}
ACTED_ON = CONTROLS | {"button", "tab"}


def simple_name(node: Node) -> str:
    """The class without its package."""
    return node.class_name.rpartition(".")[2]


def role_of(node: Node) -> str:
    """Its role by what it is: empty for a mere container."""
    role = ROLES.get(simple_name(node), "")
    if node.password or role == "field":
        return "field"
    if node.checkable and role not in CHECKABLE | {"tab"}:
        return "checkbox"
    return "" if role == "list" else role
