"""A tool catalogue as rows: in memory, in a DuckDB file, or in PostgreSQL.

- `protocol`: a tool's row and what every store of tools can do (`ToolStore`).
- `memory`: the store that searches.
- `duckdb_file`, `mirror`: rows kept in a file, searched through their copy in memory.
- `postgres`, `sql`: rows in PostgreSQL with pgvector; access rules are part of the query.
"""
