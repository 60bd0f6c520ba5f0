"""An OpenAI-compatible chat API over the gateway: each request is a turn, or the answer to a question of one."""
