# One MCP server in front of many: `docker build -t ctrag-mcp .`, then see docs/mcp.md.
FROM python:3.11-slim

WORKDIR /src
COPY . .
RUN pip install --no-cache-dir -c requirements.lock '.[mcp]' && rm -rf /src \
    && useradd --create-home ctrag && mkdir /data && chown ctrag /data
USER ctrag
WORKDIR /data
ENV CTRAG_HOME=/data/home CTRAG_CACHE=/data/cache CTRAG_WEIGHTS=/home/ctrag/weights
# The encoder's graph is written now, not at the first search.
RUN ctrag models prepare

VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=3)"]
# Mount /etc/ctrag with servers.json and access.yaml; without rules for callers nothing is served over HTTP.
ENTRYPOINT ["ctrag", "serve", "mcp"]
CMD ["--upstream", "/etc/ctrag/servers.json", "--access", "/etc/ctrag/access.yaml", "--http", "0.0.0.0:8000"]
