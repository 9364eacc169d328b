"""Names that the modules share."""

DOMAIN = "ctrag"
DEFAULT_URL = "http://127.0.0.1:8017"
