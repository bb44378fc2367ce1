"""The database: tables, transactions, triggers. Only this package names SQLAlchemy's engine."""
