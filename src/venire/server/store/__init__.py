"""The database: tables, migrations, transactions, append-only triggers."""
