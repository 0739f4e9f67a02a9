"""The real classes of the providers, each talking to a model on loopback that speaks its wire."""
