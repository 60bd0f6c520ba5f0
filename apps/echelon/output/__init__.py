"""What commands print with `--json`, by noun: each output is a declared shape. `shapes.SHAPES` has them by command.

A key that is not known is null, none is ever left out, and there are no others. Times are seconds since the epoch.
"""
