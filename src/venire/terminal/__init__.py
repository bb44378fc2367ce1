"""What the commands share: options, output, models by name."""
