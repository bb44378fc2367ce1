"""What models share: interface, loop, result; and the inference of those that need more."""
