"""The phone's tools: a whole task (`phone.navigate`), and single looks and acts for who has planned them himself."""
