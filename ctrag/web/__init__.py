"""Pages to look at, served by this machine to its own browser.

- `guard`: who may ask: the token, the host, the origin, and what a page may load.
- `people`, `talk`: whose assistants are open, and one person's conversation, turn by turn.
- `why`, `origins`: what led to an answer, as data for a page.
- `things`: what a person has, application by application.
- `bring`: own files in, with how far it is; forgetting and exporting are in `own_data`.
- `assistant_app`: the pages of `ctrag serve web`; `running` serves them.
- `session_page`, `gateway_page`: recorded sessions, and a gateway while it runs.

It may import both products and is imported by the command line alone.
"""
