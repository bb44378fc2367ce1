"""Commands on crowds and campaigns, which the groups of ``cli`` take in."""
