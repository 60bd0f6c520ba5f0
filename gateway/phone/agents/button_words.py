"""What buttons say in the languages that most phones are set to: English, German, French, Spanish, Italian."""

from __future__ import annotations

SAVING = frozenset(
    "save done ok okay send add create apply confirm submit finish set post share update "
    "sichern speichern fertig senden anlegen hinzufügen übernehmen "
    "enregistrer terminé envoyer ajouter guardar listo enviar añadir salva fatto invia".split()
)
"""Words of what ends an entry: it is kept, or goes off."""

SENDING = frozenset(
    "send reply forward senden sende schicke schick antworte antworten weiterleiten "
    "envoyer envoie répondre répond enviar envía envia responder responde inviare invia rispondi".split()
)
"""Words of tasks in which something is to go off: keeping it is not enough."""

PRESSING = frozenset("press click tap hit push drücke tippe klicke appuie clique pulsa toca premi tocca".split())
"""Words of tasks that say what is to be pressed."""

EXCEPTING = frozenset(
    "not no never except without but don doesn t nicht kein keine außer ohne pas sauf sans salvo sin non tranne".split()
)
"""Words of tasks that may name what is not meant."""

DISMISSING = frozenset(
    (
        *(
            "no thanks",
            "no thank you",
            "not now",
            "later",
            "maybe later",
            "remind me later",
            "skip",
            "dismiss",
            "close",
        ),
        *("got it", "nein danke", "nicht jetzt", "später", "überspringen", "schließen", "non merci", "plus tard"),
        *("fermer", "ahora no", "no gracias", "más tarde", "cerrar", "non ora", "chiudi"),
    )
)
"""All that stands on what puts a notice away."""

SEARCHING = frozenset("search find query filter suche suchen finden recherche rechercher chercher buscar cerca".split())
"""Words of what looks things up."""
