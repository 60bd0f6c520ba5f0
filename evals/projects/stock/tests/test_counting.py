from stock.counting import counted, fingerprint


def test_pieces_are_added_up():
    assert counted(["tea 3", "rice 1", "tea 2"]) == {"tea": 5, "rice": 1}


def test_fingerprint_of_the_same_lines_is_the_same():
    assert fingerprint(["tea 3"]) == fingerprint(["tea 3"])
    assert fingerprint(["tea 3"]) != fingerprint(["tea 4"])
