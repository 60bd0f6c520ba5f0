"""Evaluation: a suite of requests is carried out, and each is judged by what it left behind."""
