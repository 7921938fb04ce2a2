"""What a domain is, and the domains we know: ATIS, OVERNIGHT's eight, and any folder of a user's own."""
