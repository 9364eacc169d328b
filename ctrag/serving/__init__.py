"""What every server of ctrag needs: who may reach it, and with which token.

- `addresses`: addresses that only this machine reaches, the hosts and origins that are answered.
- `tokens`: bearer tokens, kept as hashes.
- `headers`: malformed `Host` and `Origin` headers.
- `patience`: slow clients are not waited for.
- `signals`: SIGTERM ends a server as Ctrl-C does.
"""
