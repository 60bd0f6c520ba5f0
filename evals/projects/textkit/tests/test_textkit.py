from textkit.counting import most_common
from textkit.slugs import slugify


def test_words_are_joined_by_hyphens():
    assert slugify("Hello World") == "hello-world"


def test_runs_of_other_characters_become_one_hyphen():
    assert slugify("What's new, in 3.12?") == "what-s-new-in-3-12"


def test_no_hyphen_at_the_ends():
    assert slugify("  (draft) ") == "draft"


def test_equal_counts_are_sorted():
    assert most_common("b a b a c", 2) == ["a", "b"]
