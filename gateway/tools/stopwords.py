"""English words that say nothing about what a request or a query is about."""

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both
    but by can could did do does doing done down during each few find for from further get give had has have
    having he help her here hers him his how i if in into is it its itself just know let like look make me
    more most my need no nor not now of off on once only or other our out over own please same say search she
    should show so some such tell than that the their them then there these they this those through to too
    under until up us use used using very want was way we were what when where which while who whom why will
    with would you your
    """.split()
)

# what a request says of its task rather than of its topic
OF_THE_TASK = frozenset(
    """
    agent build create doc docs documentation explain find found learn page pages python read research skill skills
    source sources study task-type topic understand write
    """.split()
)
