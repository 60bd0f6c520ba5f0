from wordcount import count_words


def test_words_are_counted():
    assert count_words("one two two") == {"one": 1, "two": 2}


def test_case_does_not_matter():
    assert count_words("The cat and the dog") == {"the": 2, "cat": 1, "and": 1, "dog": 1}


def test_any_white_space_separates():
    assert count_words("  a\tb\n\na ") == {"a": 2, "b": 1}


def test_nothing_has_no_words():
    assert count_words("") == {}
