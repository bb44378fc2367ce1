"""What commands share: options, output, files, the database."""
