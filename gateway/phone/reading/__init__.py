"""What Android's commands and adb print, read into values: each module reads one kind of answer.

What a parser does not find it gives as None or as empty: the answers differ between versions and vendors, and what is
left out by one is told by another. None of them raises for what a device may print.
"""
